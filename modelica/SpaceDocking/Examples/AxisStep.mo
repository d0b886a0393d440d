within SpaceDocking.Examples;
model AxisStep "Response of a robot axis to a constant command"
  parameter Units.Position command = 0.01 "Commanded position";
  Robots.PositionAxis axis "Robot axis";
equation
  axis.position_command = command;
  annotation (
    experiment(StartTime = 0, StopTime = 0.5, Tolerance = 1e-9, Interval = 0.001),
    Documentation(info = "<html>
<p>The axis starts at rest and settles at the command within a few periods of its bandwidth.</p>
</html>"));
end AxisStep;
