within SpaceDocking.Examples;
model TwoBodyImpact "A chaser meets a target and bounces off"
  Bodies.Chaser chaser(x0 = -0.003) "Chasing spacecraft";
  Bodies.Target target "Target spacecraft";
  Contact.Compliance contact(k = 1000) "Docking interface";
equation
  connect(chaser.position, contact.position_a);
  connect(chaser.velocity, contact.velocity_a);
  connect(target.position, contact.position_b);
  connect(target.velocity, contact.velocity_b);
  connect(contact.force_a, chaser.force);
  connect(contact.force_b, target.force);
  chaser.virtual_force = 0;
  target.virtual_force = 0;
  chaser.thrust = 0;
  annotation (
    experiment(StartTime = 0, StopTime = 5, Tolerance = 1e-9, Interval = 0.001),
    Documentation(info = "<html>
<p>The chaser drifts for 0.1 s, touches the target, and leaves it after half a period of the reduced
mass on the spring, <code>pi*sqrt(m/k)</code>, with the relative velocity reversed.</p>
</html>"));
end TwoBodyImpact;
