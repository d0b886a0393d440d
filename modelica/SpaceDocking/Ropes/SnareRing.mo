within SpaceDocking.Ropes;
model SnareRing "Rotating ring of a snare, with the rotor of its motor"
  parameter Units.Inertia J(min = 1e-9) = 2.57 "Inertia with that of the rotor, seen at the ring";
  parameter Units.Inertia J_turn = 0.03276
    "Angular momentum of ring and rotor about the axis, for 1 rad/s of the ring";
  parameter Units.RotationalDamping viscous = 1 "Viscous friction of the bearing";
  parameter Units.Angle stop = 1.2 "Angle of the hard stop";
  parameter Units.RotationalStiffness k_stop = 1e4 "Stiffness of the stop";
  parameter Units.RotationalDamping c_stop = 100 "Damping of the stop";
  input Units.Torque motor_torque "Torque of the drive on the ring";
  input Units.Torque rope_1 "Torque of a rope on the ring";
  input Units.Torque rope_2 "Torque of a rope on the ring";
  input Units.Torque rope_3 "Torque of a rope on the ring";
  input Units.AngularVelocity turning(start = 0) "Angular velocity of the device about the axis";
  output Units.Angle angle(start = 0, fixed = true) "Angle from where the snare is open";
  output Units.AngularVelocity rate "Its rate; positive closes";
  output Units.AngularMomentum momentum(start = 0, fixed = true)
    "What torques on the ring have given: J*rate + J_turn*turning";
  output Units.Energy energy "That of this momentum, and of the stop";
  output Units.Power dissipation "Power that bearing and stop take";
  output Units.Energy motor_work(start = 0, fixed = true) "Work of the drive on the ring";
  output Units.Energy rope_work(start = 0, fixed = true) "Work of the ropes on the ring";
  output Units.Energy turning_work(start = 0, fixed = true)
    "What these torques have given through the turning of the device, which loses it";
  output Units.Energy heat(start = 0, fixed = true) "What bearing and stop have taken";
protected
  Units.Angle over "How far the stop is pressed in";
  Units.Torque back "Torque of the stop";
  Units.Torque total "All torques on the ring";
equation
  over = max(0, angle - stop);
  back = noEvent(if over > 0 then max(0, k_stop*over + c_stop*rate) else 0);
  der(angle) = rate;
  total = motor_torque + rope_1 + rope_2 + rope_3 - viscous*rate - back;
  der(momentum) = total;
  momentum = J*rate + J_turn*turning;
  der(motor_work) = motor_torque*rate;
  der(rope_work) = (rope_1 + rope_2 + rope_3)*rate;
  der(turning_work) = J_turn/J*total*turning;
  der(heat) = dissipation;
  energy = 0.5*momentum^2/J + 0.5*k_stop*over^2;
  dissipation = viscous*rate^2 + (back - k_stop*over)*rate;
  annotation (Documentation(info = "<html>
<p>Driven by <a href=\"modelica://SpaceDocking.Drives.RigidGearboxServo\">RigidGearboxServo</a>, whose
rotor belongs to this inertia: 6.38e-5 kg.m2 times the square of a ratio of 200, and 0.02 kg.m2 of
the ring, which is assumed. Where the device turns (<a
href=\"modelica://SpaceDocking.Bodies.FreeDevice\">FreeDevice</a>) the ring is told how fast, about its own
axis: a rotor behind a gear of the ratio n turns with the device by its inertia and against it by n
times that, so <code>J_turn</code> has n times what <code>J</code> has the square of. What the ring's
torques change is then <code>momentum</code>, which is the state; the ring begins with none of it.</p>
</html>"));
end SnareRing;
