within SpaceDocking.Sensors;
model ForceSensor "Force sensor with a lag and a bias, one direction"
  parameter Units.Time lag(min = 1e-9) = 2e-3 "Time constant";
  parameter Units.Force bias = 0 "What is shown without a force";
  parameter Units.Force force0 = 0 "Force that it has settled at, at the start";
  input Units.Force force "Force";
  output Units.Force measured "Force that is shown";
protected
  Units.Force lagged(start = force0, fixed = true) "Force behind the lag";
equation
  lag*der(lagged) = force - lagged;
  measured = lagged + bias;
  annotation (Documentation(info = "<html>
<p>First-order lag. Yu et al., IEEE Access (2018) give its form, not its time constant: 2 ms is
assumed.</p>
</html>"));
end ForceSensor;
