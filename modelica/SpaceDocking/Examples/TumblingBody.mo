within SpaceDocking.Examples;
model TumblingBody "A body spins about its intermediate axis and tumbles"
  Bodies.RigidBody body(w0 = {0.01, 2, 0.01}) "Body";
equation
  body.force = {0, 0, 0};
  body.torque = {0, 0, 0};
  body.force_body = {0, 0, 0};
  body.torque_body = {0, 0, 0};
  annotation (
    experiment(StartTime = 0, StopTime = 20, Tolerance = 1e-9, Interval = 0.01),
    Documentation(info = "<html>
<p>Rotation about the intermediate axis is unstable; energy and angular momentum stay constant.</p>
</html>"));
end TumblingBody;
