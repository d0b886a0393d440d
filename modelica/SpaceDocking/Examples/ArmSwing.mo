within SpaceDocking.Examples;
model ArmSwing "A two-link arm falls and swings without torques"
  Robots.TwoLinkArm arm "Arm";
equation
  arm.torque = {0, 0};
  annotation (
    experiment(StartTime = 0, StopTime = 2, Tolerance = 1e-9, Interval = 0.01),
    Documentation(info = "<html>
<p>A double pendulum: <code>arm.energy</code> stays constant.</p>
</html>"));
end ArmSwing;
