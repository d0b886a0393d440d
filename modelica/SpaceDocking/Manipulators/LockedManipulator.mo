within SpaceDocking.Manipulators;
model LockedManipulator "Manipulator with locked joints: six springs and dampers between two bodies"
  parameter Units.Stiffness k[3] = {1e4, 1e4, 1e4} "Stiffness along the axes of the base";
  parameter Units.Damping c[3] = {400, 400, 400} "Damping along the axes of the base";
  parameter Units.RotationalStiffness k_rotation[3] = {1e4, 1e4, 1e4}
    "Stiffness about the axes of the base";
  parameter Units.RotationalDamping c_rotation[3] = {400, 400, 400}
    "Damping about the axes of the base";
  parameter Units.Position rest[3] = {0, 0, 0}
    "Tip from the base where no force acts, in the base frame";
  input Units.Position base_position[3] "Where it stands on the base body, in the world frame";
  input Units.Velocity base_velocity[3] "Velocity of that point, in the world frame";
  input Real base_q[4](start = {1, 0, 0, 0}, each unit = "1") "Attitude of the base body";
  input Units.AngularVelocity base_w[3] "Angular velocity of the base body, in its frame";
  input Units.Position tip_position[3] "Where it holds the tip body, in the world frame";
  input Units.Velocity tip_velocity[3] "Velocity of that point, in the world frame";
  input Real tip_q[4](start = {1, 0, 0, 0}, each unit = "1") "Attitude of the tip body";
  input Units.AngularVelocity tip_w[3] "Angular velocity of the tip body, in its frame";
  output Units.Force base_force[3] "Force on the base body, in the world frame";
  output Units.Torque base_torque[3] "Torque on the base body at its point, in the world frame";
  output Units.Force tip_force[3] "Force on the tip body, in the world frame";
  output Units.Torque tip_torque[3] "Torque on the tip body at its point, in the world frame";
  output Units.Position stretch[3] "Tip from where no force acts, in the base frame";
  output Units.Angle twist[3] "Rotation vector of the tip body, in the base frame";
  output Units.Energy energy "Energy in the springs";
  output Units.Power dissipation "Power that the dampers take";
protected
  Real R[3, 3](each unit = "1") "Rotation from the base frame to the world frame";
  Real R_tip[3, 3](each unit = "1") "Rotation from the tip frame to the base frame";
  Real q_tip[4](each unit = "1") "Attitude of the tip body in the base frame";
  Units.Position arm[3] "Tip from base, in the base frame";
  Units.Velocity rate[3] "Velocity of the tip in the base frame, as the base body sees it";
  Units.AngularVelocity spin[3] "Angular velocity of the tip body as the base body sees it";
  Units.Force spring[3] "Force on the base body, in the base frame";
  Units.Torque slope[3] "Slope of the energy with respect to the twist";
  Units.Torque torsion[3] "Torque on the base body about the tip's point, in the base frame";
equation
  R = Rotations.matrix(base_q);
  q_tip = Rotations.relative(base_q, tip_q);
  R_tip = Rotations.matrix(q_tip);
  arm = transpose(R)*(tip_position - base_position);
  rate = transpose(R)*(tip_velocity - base_velocity) - cross(base_w, arm);
  stretch = arm - rest;
  twist = Rotations.vector(q_tip);
  spin = R_tip*tip_w - base_w;
  for i in 1:3 loop
    spring[i] = k[i]*stretch[i] + c[i]*rate[i];
    slope[i] = k_rotation[i]*twist[i];
  end for;
  torsion = Rotations.vectorTorque(twist, slope)
    + {c_rotation[1]*spin[1], c_rotation[2]*spin[2], c_rotation[3]*spin[3]};
  base_force = R*spring;
  base_torque = R*(torsion + cross(arm, spring));
  tip_force = -base_force;
  tip_torque = -(R*torsion);
  energy = 0.5*(k[1]*stretch[1]^2 + k[2]*stretch[2]^2 + k[3]*stretch[3]^2
    + slope*twist);
  dissipation = c[1]*rate[1]^2 + c[2]*rate[2]^2 + c[3]*rate[3]^2 + c_rotation[1]*spin[1]^2
    + c_rotation[2]*spin[2]^2 + c_rotation[3]*spin[3]^2;
  annotation (Documentation(info = "<html>
<p>Eq 8 to 12 of Yu et al., IEEE Access (2018): a manipulator whose joints are locked is a spring and a
damper in six directions, along and about the axes of the body that it stands on.</p>
<p>Changed: Eq 11 lacks the cross products; the velocity of the tip that the base sees is
<code>v_tip - v_base - cross(w_base, arm)</code>. As Eq 4 says, the force acts on both bodies at the tip's
point: the torque on the base therefore has the part <code>cross(arm, spring)</code>, and the wrenches on
the two bodies are equal and opposite about every point. The paper multiplies stiffnesses with Euler
angles; here it is the rotation vector, with the torque that belongs to the energy. For small angles
both are the same, but only this one keeps the energy without damping.</p>
</html>"));
end LockedManipulator;
