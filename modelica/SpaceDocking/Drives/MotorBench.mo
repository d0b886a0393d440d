within SpaceDocking.Drives;
model MotorBench "Drive motor and load motor on one shaft, with tachometer and filter"
  parameter Units.Inertia J(min = 1e-12) = 6.38e-5 "Inertia of the whole shaft";
  parameter Units.Resistance R(min = 1e-9) = 2.05 "Resistance of the drive motor";
  parameter Units.TorqueConstant KT = 0.061
    "Torque coefficient of the drive motor, and back-EMF in V.s/rad";
  parameter Units.Voltage voltage_limit(min = 0) = 20 "Largest voltage of the drive motor";
  parameter Units.TorqueConstant KTl(min = 1e-9) = 0.072 "Torque coefficient of the load motor";
  parameter Units.Current current_limit(min = 0) = 2 "Largest current of the load motor's amplifier";
  parameter Units.Torque coulomb(min = 0) = 0.0205 "Coulomb friction of both, also while they stick";
  parameter Units.RotationalDamping viscous = 2.58e-5 "Viscous friction of both";
  parameter Real ripple(unit = "1", min = 0) = 0 "Share by which KT varies as the drive motor turns";
  parameter Integer segments(min = 1) = 7 "Periods of that in a turn";
  parameter Units.Torque misalignment(min = 0) = 0 "Torque of bent couplings, once in a turn";
  parameter Units.Frequency cut_off(min = 1e-6) = 50 "Corner of the tachometer's filter";
  input Units.Voltage voltage(start = 0) "Voltage commanded to the drive motor";
  input Units.Torque load(start = 0) "Torque commanded to the load motor";
  input Units.AngularVelocity noise(start = 0) "Noise of the tachometer";
  output Units.AngularVelocity rate(start = 0, fixed = true) "Rate that is read, behind the filter";
  output Units.Angle angle(start = 0, fixed = true) "Angle of the shaft";
  output Units.AngularVelocity shaft_rate(start = 0, fixed = true) "Rate of the shaft";
  output Units.AngularAcceleration acceleration(start = 0, fixed = true)
    "Acceleration that an accelerometer shows, behind a filter of the same corner";
  output Units.Torque drive_torque "Torque of the drive motor";
  output Units.Torque load_torque "Torque of the load motor";
  output Integer mode(start = 0, fixed = true) "1 forward, -1 backward, 0 sticking";
  output Boolean saturated "The load motor's amplifier is at its limit";
  output Units.Energy energy "Kinetic energy of the shaft, and that in bent couplings";
  output Units.Power dissipation "Power that friction turns into heat";
  output Units.Power heating "Power that the drive motor's resistance turns into heat";
  output Units.Power supplied "Power that both amplifiers give";
protected
  constant Real pi(unit = "1") = 3.14159265358979323846 "Circle constant";
  constant Real small(unit = "1") = 1e-10 "Share of Coulomb friction that sets the shaft in motion";
  final parameter Real corner(unit = "rad/s") = 2*pi*cut_off "Corner of the filter";
  Units.TorqueConstant k "Coefficient of the drive motor at this angle";
  Units.Voltage u "Voltage at the drive motor";
  Units.Current current "Current of the drive motor";
  Units.Current asked "Current that the load command amounts to";
  Units.Torque push "Torque of both motors and of the couplings";
  Units.Torque friction "Friction torque, against the motion";
  Units.AngularAcceleration gain "Acceleration of the shaft";
  Units.AngularAcceleration slope(start = 0, fixed = true) "Slope of the rate that is read";
  Units.AngularJerk jerk(start = 0, fixed = true) "Slope of what the accelerometer shows";
  Boolean start_forward(start = false, fixed = true) "It breaks away forward";
  Boolean start_backward(start = false, fixed = true) "It breaks away backward";
  Boolean locked(start = true, fixed = true) "It sticks";
equation
  u = min(max(voltage, -voltage_limit), voltage_limit);
  k = KT*(1 + ripple*cos(segments*angle));
  current = (u - k*shaft_rate)/R;
  drive_torque = k*current;
  asked = load/KTl;
  saturated = abs(asked) > current_limit;
  load_torque = KTl*min(max(asked, -current_limit), current_limit);
  push = drive_torque + load_torque - misalignment*sin(angle);
  J*gain = push - friction;
  der(shaft_rate) = gain;
  der(angle) = shaft_rate;
  der(rate) = slope;
  der(slope) = corner^2*(shaft_rate + noise - rate) - sqrt(2)*corner*slope;
  der(acceleration) = jerk;
  der(jerk) = corner^2*(gain - acceleration) - sqrt(2)*corner*jerk;
  start_forward = pre(mode) == 0 and (push > coulomb*(1 + small)
    or pre(start_forward) and push > coulomb);
  start_backward = pre(mode) == 0 and (push < -coulomb*(1 + small)
    or pre(start_backward) and push < -coulomb);
  locked = pre(mode) == 0 and not (start_forward or start_backward);
  friction = if locked then push
    elseif pre(mode) == 1 or start_forward then coulomb + viscous*shaft_rate
    else -coulomb + viscous*shaft_rate;
  mode = if (pre(mode) == 1 or start_forward) and shaft_rate > 0 then 1
    elseif (pre(mode) == -1 or start_backward) and shaft_rate < 0 then -1
    else 0;
  when locked then
    reinit(shaft_rate, 0);
  end when;
  energy = 0.5*J*shaft_rate^2 + misalignment*(1 - cos(angle));
  dissipation = friction*shaft_rate;
  heating = R*current^2;
  supplied = u*current + load_torque*shaft_rate;
  annotation (Documentation(info = "<html>
<p>The motor test bed of the Motor Substitution Test, with the figures of its Table 1: a voltage drives one
motor, and the other, whose amplifier controls its current, turns against it as an arm would. Friction is
that of both together, with the modes of <a href=\"modelica://SpaceDocking.Drives.DcMotor\">DcMotor</a>.</p>
<p>The tachometer goes through a second-order low-pass, a Butterworth filter of 50 Hz. <code>noise</code> is
added before it; who connects a source to it gives the source its seed.</p>
<p>An accelerometer on the shaft, which the paper wishes for, has the same filter.</p>
<p>The paper names as sources of noise bent couplings, torque that varies with rotation, and the
tachometer, without figures: all are zero here unless they are set. Assumed: couplings pull once in a turn,
<code>misalignment*sin(angle)</code>, and keep their energy; the coefficient varies
<code>segments</code> times in a turn, for torque and back-EMF alike; the load motor's limit is the
torque limit of Table 1, 0.144 N.m, at its coefficient. Its resistance was not measured, so its power is
the mechanical one.</p>
</html>"));
end MotorBench;
