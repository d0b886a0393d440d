within SpaceDocking.Sensors;
model WrenchSensor "Force and torque sensor with a lag and a bias, six directions"
  parameter Units.Time lag(min = 1e-9) = 2e-3 "Time constant";
  parameter Units.Force force_bias[3] = {0, 0, 0} "Force that is shown without any";
  parameter Units.Torque torque_bias[3] = {0, 0, 0} "Torque that is shown without any";
  parameter Units.Force force0[3] = {0, 0, 0} "Force that it has settled at, at the start";
  parameter Units.Torque torque0[3] = {0, 0, 0} "Torque that it has settled at, at the start";
  input Units.Force force[3] "Force";
  input Units.Torque torque[3] "Torque about the sensor's origin";
  output Units.Force measured_force[3] "Force that is shown";
  output Units.Torque measured_torque[3] "Torque that is shown";
protected
  Units.Force lagged_force[3](start = force0, each fixed = true) "Force behind the lag";
  Units.Torque lagged_torque[3](start = torque0, each fixed = true) "Torque behind the lag";
equation
  lag*der(lagged_force) = force - lagged_force;
  lag*der(lagged_torque) = torque - lagged_torque;
  measured_force = lagged_force + force_bias;
  measured_torque = lagged_torque + torque_bias;
  annotation (Documentation(info = "<html>
<p>The same first-order lag in all directions; 2 ms is assumed, as in
<a href=\"modelica://SpaceDocking.Sensors.ForceSensor\">ForceSensor</a>.</p>
</html>"));
end WrenchSensor;
