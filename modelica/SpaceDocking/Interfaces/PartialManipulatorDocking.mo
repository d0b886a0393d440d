within SpaceDocking.Interfaces;
partial model PartialManipulatorDocking "Station, manipulator, end-effector and spacecraft in space"
  parameter Units.Mass m_c(min = 1e-9) = 2000 "Mass of the spacecraft";
  parameter Units.Mass m_e(min = 1e-9) = 300 "Mass of the end-effector, the manipulator's included";
  parameter Units.Mass m_s(min = 1e-9) = 50000 "Mass of the station";
  parameter Units.Inertia J_c[3] = {2000, 2000, 2000} "Principal inertias of the spacecraft";
  parameter Units.Inertia J_e[3] = {300, 300, 300} "Principal inertias of the end-effector";
  parameter Units.Inertia J_s[3] = {60000, 60000, 60000} "Principal inertias of the station";
  parameter Units.Position r_Bs[3] = {0, 0, 2} "Base of the manipulator, in the station's frame";
  parameter Units.Position r_Ae[3] = {0, 0, -1} "Tip of the manipulator, in the end-effector's frame";
  parameter Units.Position s0[3] = {0, 0, 2.5}
    "Spacecraft from the end-effector at the start, in its frame";
  parameter Units.Stiffness k_manipulator[3] = {1e4, 1e4, 1e4} "Stiffness of the manipulator";
  parameter Units.Damping c_manipulator[3] = {400, 400, 400} "Damping of the manipulator";
  parameter Units.RotationalStiffness k_rotation[3] = {1e4, 1e4, 1e4}
    "Rotational stiffness of the manipulator";
  parameter Units.RotationalDamping c_rotation[3] = {400, 400, 400}
    "Rotational damping of the manipulator";
  Bodies.AttachedBody station(m = m_s, J = diagonal(J_s), point = r_Bs) "Station";
  Bodies.AttachedBody effector(m = m_e, J = diagonal(J_e), point = r_Ae, r0 = r_Bs - r_Ae)
    "End-effector";
  Bodies.RigidBody spacecraft(m = m_c, J = diagonal(J_c), r0 = r_Bs - r_Ae + s0) "Spacecraft";
  Manipulators.LockedManipulator manipulator(k = k_manipulator, c = c_manipulator,
    k_rotation = k_rotation, c_rotation = c_rotation) "Manipulator";
  output Units.Position s[3] "Spacecraft from the end-effector, in the end-effector's frame";
  output Units.Velocity v[3] "Rate of s";
  output Real q[4](each unit = "1") "Attitude of the spacecraft in the end-effector's frame";
  output Units.AngularVelocity w[3]
    "Angular velocity of the spacecraft seen from the end-effector, in the end-effector's frame";
  output Units.Energy energy "Kinetic energy and energy of the manipulator's springs";
  output Units.Power dissipation "Power that the manipulator's dampers take";
  output Units.Momentum momentum[3] "Sum of the momenta, in the world frame";
  output Units.AngularMomentum angular_momentum[3]
    "Angular momentum about the origin of the world frame";
  output Units.Position r_s[3] "Station's centre of mass, in the world frame";
  output Units.Position r_e[3] "End-effector's centre of mass, in the world frame";
  output Units.Position r_c[3] "Spacecraft's centre of mass, in the world frame";
  output Real q_s[4](each unit = "1") "Attitude of the station in the world frame";
  output Real q_e[4](each unit = "1") "Attitude of the end-effector in the world frame";
  output Real q_c[4](each unit = "1") "Attitude of the spacecraft in the world frame";
protected
  Units.Force contact_force[3] "Force on the end-effector, in its frame";
  Units.Torque contact_torque[3] "Torque about its centre of mass, in its frame";
  Real R[3, 3](each unit = "1") "Rotation from the end-effector's frame to the world frame";
  Real R_c[3, 3](each unit = "1") "Rotation from the spacecraft's frame to the end-effector's";
equation
  connect(station.point_position, manipulator.base_position);
  connect(station.point_velocity, manipulator.base_velocity);
  connect(station.q, manipulator.base_q);
  connect(station.w, manipulator.base_w);
  connect(effector.point_position, manipulator.tip_position);
  connect(effector.point_velocity, manipulator.tip_velocity);
  connect(effector.q, manipulator.tip_q);
  connect(effector.w, manipulator.tip_w);
  connect(manipulator.base_force, station.point_force);
  connect(manipulator.base_torque, station.point_torque);
  connect(manipulator.tip_force, effector.point_force);
  connect(manipulator.tip_torque, effector.point_torque);
  R = Rotations.matrix(effector.q);
  q = Rotations.relative(effector.q, spacecraft.q);
  R_c = Rotations.matrix(q);
  s = transpose(R)*(spacecraft.r - effector.r);
  v = transpose(R)*(spacecraft.v - effector.v) - cross(effector.w, s);
  w = R_c*spacecraft.w - effector.w;
  effector.force = R*contact_force;
  effector.torque = R*contact_torque;
  spacecraft.force = -effector.force;
  spacecraft.torque_body = transpose(R_c)*(cross(s, contact_force) - contact_torque);
  spacecraft.torque = {0, 0, 0};
  spacecraft.force_body = {0, 0, 0};
  station.force = {0, 0, 0};
  station.torque = {0, 0, 0};
  energy = station.energy + effector.energy + spacecraft.energy + manipulator.energy;
  dissipation = manipulator.dissipation;
  momentum = m_s*station.v + m_e*effector.v + m_c*spacecraft.v;
  angular_momentum = station.momentum + effector.momentum + spacecraft.momentum
    + m_s*cross(station.r, station.v) + m_e*cross(effector.r, effector.v)
    + m_c*cross(spacecraft.r, spacecraft.v);
  r_s = station.r;
  r_e = effector.r;
  r_c = spacecraft.r;
  q_s = station.q;
  q_e = effector.q;
  q_c = spacecraft.q;
  annotation (Documentation(info = "<html>
<p>Eq 1 to 17 of Yu et al., IEEE Access (2018). Each body is a free body in the world frame; the
relative motions that the paper integrates in turning frames are computed from them, so the corrections
that its Eq 3, 11, 14 and 16 need do not arise. What acts on the spacecraft is Eq 21: the wrench on the
end-effector, reversed and moved to the spacecraft's centre of mass,
<code>transpose(R_c)*(cross(s, F) - M)</code>.</p>
<p>Masses, inertias and the manipulator's stiffness and damping along the axes are Table 2 of that paper.
It gives no geometry and no rotational stiffness: <code>r_Bs</code>, <code>r_Ae</code>, <code>s0</code>,
<code>k_rotation</code> and <code>c_rotation</code> are assumed.</p>
</html>"));
end PartialManipulatorDocking;
