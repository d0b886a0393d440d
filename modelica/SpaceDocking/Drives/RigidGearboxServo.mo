within SpaceDocking.Drives;
model RigidGearboxServo "Rate servo of a joint: PI controller, direct-current motor, stiff gearbox"
  parameter Real ratio(unit = "1", min = 1e-9) = 1570 "Turns of the motor for one of the joint";
  parameter Units.BackEmf Kp = 0.020 "Gain of the error of the motor's rate";
  parameter Units.IntegralGain Ki = 0.125 "Gain of its integral";
  parameter Units.Voltage voltage_limit(min = 0) = 20 "Largest voltage of the amplifier";
  parameter Units.Torque torque_limit(min = 0) = 0.144 "Largest torque of the motor";
  parameter Units.Resistance R(min = 1e-9) = 2.05 "Resistance";
  parameter Units.TorqueConstant KT(min = 1e-9) = 0.061
    "Torque coefficient, and back-EMF in V.s/rad";
  input Units.AngularVelocity rate_command(start = 0) "Commanded rate of the joint";
  input Units.AngularVelocity rate(start = 0) "Rate of the joint";
  output Units.Torque torque "Torque on the joint";
  output Units.Voltage voltage "Voltage of the motor, within its limit";
  output Units.Torque motor_torque "Torque of the motor, within its limit";
  output Boolean limited "Voltage or torque are at their limits";
  output Units.Power supplied "Electrical power that the motor takes";
  output Units.Power dissipation "Power that its resistance turns into heat";
  Units.Angle integral(start = 0, fixed = true) "Integral of the error of the motor's rate";
protected
  Units.AngularVelocity error "Commanded minus actual rate, at the motor";
  Units.Voltage demand "Voltage of the controller";
  Units.Torque electric "Torque at that voltage and rate";
equation
  error = ratio*(rate_command - rate);
  der(integral) = error;
  demand = Kp*error + Ki*integral;
  voltage = min(max(demand, -voltage_limit), voltage_limit);
  electric = KT*(voltage - KT*ratio*rate)/R;
  motor_torque = min(max(electric, -torque_limit), torque_limit);
  torque = ratio*motor_torque;
  limited = abs(demand) > voltage_limit or abs(electric) > torque_limit;
  supplied = dissipation + torque*rate;
  dissipation = R*(motor_torque/KT)^2;
  annotation (Documentation(info = "<html>
<p>The servo of Figure 3 and Table 1 of the Motor Substitution Test: gains and voltages act on the
error at the motor, and one coefficient is that of torque and of back-EMF. Not part of it: the rotor's
inertia, which belongs to the mass matrix of the arm (<code>rotor</code> of
<a href=\"modelica://SpaceDocking.Robots.TwoLinkArm\">TwoLinkArm</a>), and friction, which the paper has
on its motor bench only. Both are in
<a href=\"modelica://SpaceDocking.Robots.ServoArm\">ServoArm</a>, where the motor's rate is a state, and
friction can hold it.</p>
<p>Changed: with torque at its limit the motor takes the power of that torque, as with a limit of the
current.</p>
</html>"));
end RigidGearboxServo;
