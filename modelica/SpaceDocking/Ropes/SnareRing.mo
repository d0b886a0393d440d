within SpaceDocking.Ropes;
model SnareRing "Rotating ring of a snare, with the rotor of its motor"
  parameter Units.Inertia J(min = 1e-9) = 2.57 "Inertia with that of the rotor, seen at the ring";
  parameter Units.RotationalDamping viscous = 1 "Viscous friction of the bearing";
  parameter Units.Angle stop = 1.2 "Angle of the hard stop";
  parameter Units.RotationalStiffness k_stop = 1e4 "Stiffness of the stop";
  parameter Units.RotationalDamping c_stop = 100 "Damping of the stop";
  input Units.Torque motor_torque "Torque of the drive on the ring";
  input Units.Torque rope_1 "Torque of a rope on the ring";
  input Units.Torque rope_2 "Torque of a rope on the ring";
  input Units.Torque rope_3 "Torque of a rope on the ring";
  output Units.Angle angle(start = 0, fixed = true) "Angle from where the snare is open";
  output Units.AngularVelocity rate(start = 0, fixed = true) "Its rate; positive closes";
  output Units.Energy energy "Kinetic energy, and that of the stop";
  output Units.Power dissipation "Power that bearing and stop take";
  output Units.Energy motor_work(start = 0, fixed = true) "Work of the drive on the ring";
  output Units.Energy rope_work(start = 0, fixed = true) "Work of the ropes on the ring";
  output Units.Energy heat(start = 0, fixed = true) "What bearing and stop have taken";
protected
  Units.Angle over "How far the stop is pressed in";
  Units.Torque back "Torque of the stop";
equation
  over = max(0, angle - stop);
  back = noEvent(if over > 0 then max(0, k_stop*over + c_stop*rate) else 0);
  der(angle) = rate;
  J*der(rate) = motor_torque + rope_1 + rope_2 + rope_3 - viscous*rate - back;
  der(motor_work) = motor_torque*rate;
  der(rope_work) = (rope_1 + rope_2 + rope_3)*rate;
  der(heat) = dissipation;
  energy = 0.5*J*rate^2 + 0.5*k_stop*over^2;
  dissipation = viscous*rate^2 + (back - k_stop*over)*rate;
  annotation (Documentation(info = "<html>
<p>Driven by <a href=\"modelica://SpaceDocking.Drives.RigidGearboxServo\">RigidGearboxServo</a>, whose
rotor belongs to this inertia: 6.38e-5 kg.m2 times the square of a ratio of 200, and 0.02 kg.m2 of
the ring, which is assumed.</p>
</html>"));
end SnareRing;
