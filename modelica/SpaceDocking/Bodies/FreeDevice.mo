within SpaceDocking.Bodies;
model FreeDevice "Capture device that floats and turns"
  parameter Units.Mass m(min = 1e-6) = 200 "Mass, with that of the rings";
  parameter Units.Inertia J[3, 3] = {{20, 0, 0}, {0, 20, 0}, {0, 0, 15}}
    "Inertia about the centre of mass, device frame, with that of ring and rotor";
  parameter Units.Position centre[3] = {0, 0, -0.4} "Centre of mass, in the device's frame";
  parameter Units.Inertia J_ring = 0.03276
    "Angular momentum of ring and rotor about the axis, for 1 rad/s of the ring";
  parameter Units.Inertia J_seen(min = 1e-9) = 2.57
    "Inertia of ring and rotor seen at the ring, which turns against the device";
  parameter Units.Position frame_r0[3] = {0, 0, 0} "Origin of the device's frame at the start";
  parameter Units.Velocity v0[3] = {0, 0, 0} "Velocity of the centre of mass at the start";
  parameter Real q0[4](each unit = "1") = {1, 0, 0, 0} "Unit quaternion at the start, scalar first";
  parameter Units.AngularVelocity w0[3] = {0, 0, 0}
    "Angular velocity at the start, in the device's frame";
  input Units.Force force_1a[3] "Force of rope 1 on the fixed ring";
  input Units.Force force_1b[3] "Force of rope 1 on the rotating ring";
  input Units.Force force_2a[3] "Force of rope 2 on the fixed ring";
  input Units.Force force_2b[3] "Force of rope 2 on the rotating ring";
  input Units.Force force_3a[3] "Force of rope 3 on the fixed ring";
  input Units.Force force_3b[3] "Force of rope 3 on the rotating ring";
  input Units.Torque moment_1[3] "Torque of rope 1 on both rings about their middle";
  input Units.Torque moment_2[3] "Torque of rope 2 on both rings about their middle";
  input Units.Torque moment_3[3] "Torque of rope 3 on both rings about their middle";
  input Units.AngularMomentum ring_momentum "Momentum of the rotating ring";
  input Units.Force lock[3] "Force of the lock on the target";
  input Units.Torque lock_torque[3] "Torque of the lock on the device about the frame's origin";
  input Units.Position screw[3] "Way of the rings in the device, device frame";
  input Units.Velocity screw_rate[3] "Its rate";
  output Units.Position r[3] "Centre of mass";
  output Units.Velocity v[3](start = v0, each fixed = true) "Its velocity";
  output Real q[4](start = q0, each fixed = true, each unit = "1")
    "Unit quaternion that turns the device's frame into the world frame, scalar first";
  output Units.AngularMomentum spin[3] "Angular momentum about the centre of mass";
  output Units.AngularVelocity w[3] "Angular velocity, in the device's frame";
  output Units.AngularVelocity omega[3] "Angular velocity, world frame";
  output Units.Position drag[3] "Middle of the rings";
  output Units.Velocity drag_rate[3] "Its velocity";
  output Units.Position frame_r[3] "Origin of the device's frame";
  output Units.Velocity frame_v[3] "Its velocity";
  output Units.Energy energy "Kinetic energy, without that of the momentum of the ring";
  output Units.Energy screw_work(start = 0, fixed = true) "Work of the screw on the rings";
  output Units.Momentum momentum[3] "Momentum";
  output Units.AngularMomentum angular_momentum[3] "Angular momentum about the origin";
protected
  parameter Units.Inertia J_along[3, 3] = J - {{0, 0, 0}, {0, 0, 0}, {0, 0, J_ring^2/J_seen}}
    "Inertia without that part of ring and rotor which their own momentum carries";
  Real R[3, 3](each unit = "1") "Rotation from the device to the world";
  Units.Position arm[3] "Middle of the rings from the centre of mass";
  Units.Position back[3] "Origin of the frame from there";
  Units.Force pull[3] "Force of all ropes on the rings";
equation
  R = Rotations.matrix(q);
  arm = R*(screw - centre);
  back = -R*centre;
  pull = force_1a + force_1b + force_2a + force_2b + force_3a + force_3b;
  der(r) = v;
  m*der(v) = pull - lock;
  der(spin) = moment_1 + moment_2 + moment_3 + cross(arm, pull) + lock_torque - cross(back, lock);
  J_along*w = transpose(R)*spin - {0, 0, J_ring/J_seen*ring_momentum};
  omega = R*w;
  der(q[1]) = -0.5*(q[2]*w[1] + q[3]*w[2] + q[4]*w[3]);
  der(q[2]) = 0.5*(q[1]*w[1] + q[3]*w[3] - q[4]*w[2]);
  der(q[3]) = 0.5*(q[1]*w[2] + q[4]*w[1] - q[2]*w[3]);
  der(q[4]) = 0.5*(q[1]*w[3] + q[2]*w[2] - q[3]*w[1]);
  drag = r + arm;
  drag_rate = v + cross(omega, arm) + R*screw_rate;
  frame_r = r + back;
  frame_v = v + cross(omega, back);
  der(screw_work) = -pull*(R*screw_rate);
  energy = 0.5*m*(v*v) + 0.5*(w*(J_along*w));
  momentum = m*v;
  angular_momentum = spin + cross(r, m*v);
initial equation
  r = frame_r0 + Rotations.matrix(q0)*centre;
  spin = Rotations.matrix(q0)*(J_along*w0);
  annotation (Documentation(info = "<html>
<p>The rings of <a href=\"modelica://SpaceDocking.Ropes.SnareRope\">SnareRope</a> and the face of
<a href=\"modelica://SpaceDocking.Contact.FlushLock\">FlushLock</a> on a body that is free to move: both are
told where it is and how it is turned. All vectors are in the world frame where nothing else is said;
where nothing says how it begins, the device's frame is the world frame at the start, with the rings
about its origin.</p>
<p>Its angular momentum is the state, so that what ropes and lock give is kept whatever the ring does:
<code>spin = R*(J*w + {0, 0, J_ring*rate})</code> with the rate of the ring. A rotor behind a gear of the ratio n has n times
its inertia in <code>J_ring</code>, where <code>J_seen</code> has the square of it: 0.02 kg.m2 of the
ring and 200 times 6.38e-5. Instead of its rate
<a href=\"modelica://SpaceDocking.Ropes.SnareRing\">SnareRing</a> tells its momentum
<code>J_seen*rate + J_ring*w[3]</code>, which nothing but torques on the ring changes: so each feels that the
other turns, and no acceleration has to be passed on. Both must have the same inertias: <code>J_ring</code> is the ring's <code>J_turn</code>, <code>J_seen</code> its
<code>J</code>. The ring begins with no momentum, so on a device that turns it begins at the rate
<code>-J_ring/J_seen*w0[3]</code>. The 50 mm that the rings move in the
device do not move its centre of mass. Mass, inertia and centre are assumed.</p>
</html>"));
end FreeDevice;
