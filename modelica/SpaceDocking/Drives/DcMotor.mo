within SpaceDocking.Drives;
model DcMotor "Direct-current motor with a gearbox and friction that sticks"
  parameter Units.Resistance R(min = 1e-9) = 2.05 "Resistance";
  parameter Units.TorqueConstant KT = 0.061 "Torque coefficient, and back-EMF in V.s/rad";
  parameter Units.Inertia J(min = 1e-12) = 6.38e-5 "Inertia of the shaft";
  parameter Units.Torque coulomb(min = 0) = 0.0205 "Coulomb friction, also while it sticks";
  parameter Units.RotationalDamping viscous = 2.58e-5 "Viscous friction";
  parameter Real ratio(unit = "1", min = 1e-9) = 1570 "Turns of the motor for one of the output";
  input Units.Voltage voltage "Voltage";
  input Units.Torque load "Torque on the output of the gearbox";
  output Units.Angle angle(start = 0, fixed = true) "Angle of the output";
  output Units.AngularVelocity rate "Rate of the output";
  output Units.Current current "Current";
  output Integer mode(start = 0, fixed = true) "1 forward, -1 backward, 0 sticking";
  Units.AngularVelocity w(start = 0, fixed = true) "Rate of the shaft";
protected
  constant Real small(unit = "1") = 1e-10 "Share of Coulomb friction that sets the shaft in motion";
  Units.Torque drive "Torque of motor and load on the shaft";
  Units.Torque friction "Friction torque, against the motion";
  Units.AngularAcceleration acceleration "Acceleration of the shaft";
  Boolean start_forward(start = false, fixed = true) "It breaks away forward";
  Boolean start_backward(start = false, fixed = true) "It breaks away backward";
  Boolean locked(start = true, fixed = true) "It sticks";
equation
  current = (voltage - KT*w)/R;
  drive = KT*current + load/ratio;
  J*acceleration = drive - friction;
  der(w) = acceleration;
  der(angle) = rate;
  rate = w/ratio;
  start_forward = pre(mode) == 0 and (drive > coulomb*(1 + small)
    or pre(start_forward) and drive > coulomb);
  start_backward = pre(mode) == 0 and (drive < -coulomb*(1 + small)
    or pre(start_backward) and drive < -coulomb);
  locked = pre(mode) == 0 and not (start_forward or start_backward);
  friction = if locked then drive
    elseif pre(mode) == 1 or start_forward then coulomb + viscous*w
    else -coulomb + viscous*w;
  mode = if (pre(mode) == 1 or start_forward) and w > 0 then 1
    elseif (pre(mode) == -1 or start_backward) and w < 0 then -1
    else 0;
  when locked then
    reinit(w, 0);
  end when;
  annotation (Documentation(info = "<html>
<p>Motor of the Motor Substitution Test: Table 1 of that paper gives resistance, torque coefficient,
inertia of the shaft, gear ratio, Coulomb and viscous friction, which are the defaults. Inductance is
neglected there and here; that static friction equals Coulomb friction is assumed.</p>
<p>Friction has three modes. While the shaft sticks, friction is the torque that it opposes, and it
breaks away where that exceeds <code>coulomb</code>; while it slides, friction has its full size. The
mode changes by events with <code>pre(mode)</code> and without any threshold of velocity: there is no
chattering, and a stuck shaft stands exactly still.</p>
</html>"));
end DcMotor;
