within SpaceDocking.Examples;
model LegStep "A leg lengthens by a step and then carries a load"
  parameter Units.Position step = 0.001 "Step of the commanded length";
  parameter Units.Force pull = -500 "Load that comes up with time";
  parameter Units.Time rise(min = 1e-6) = 0.05 "Time constant of the load";
  Robots.StewartLeg leg "Leg";
equation
  leg.length_command = leg.length0 + step;
  leg.load = pull*(1 - exp(-time/rise));
  annotation (
    experiment(StartTime = 0, StopTime = 0.5, Tolerance = 1e-9, Interval = 0.001),
    Documentation(info = "<html>
<p>The integral part of the velocity loop takes up the load: the length settles at the command, and
the current at <code>-pull*lead/(2*pi*KT)</code>.</p>
</html>"));
end LegStep;
