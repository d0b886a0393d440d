within SpaceDocking.Interfaces;
partial model PartialStewart "Platform on six legs, with the inertia of all parts"
  parameter Units.Position base_radius = 1.5 "Radius of the circle of the lower joints";
  parameter Units.Position platform_radius = 1.0 "Radius of the circle of the upper joints";
  parameter Units.Angle base_half = 0.261799387799149 "Half the angle between lower joints of a pair";
  parameter Units.Angle platform_half = 0.785398163397448
    "Half the angle between upper joints of legs of a pair";
  parameter Units.Mass m = 200 "Mass of the platform and of what it carries";
  parameter Units.Inertia J[3, 3] = {{40, 0, 0}, {0, 40, 0}, {0, 0, 60}}
    "Inertia about its centre of mass, in the platform's frame";
  parameter Units.Position centre[3] = {0, 0, 0.1}
    "Centre of mass from the control point, in the platform's frame";
  parameter Units.Mass m_lower = 30 "Mass of the lower part of a leg, the cylinder";
  parameter Units.Mass m_upper = 10 "Mass of the upper part of a leg, the rod";
  parameter Units.Position c_lower = 0.4 "Centre of mass of the lower part, from the lower joint";
  parameter Units.Position c_upper = 0.5 "Centre of mass of the upper part, from the upper joint";
  parameter Units.Inertia J_lower = 2 "Inertia of the lower part, across its centre of mass";
  parameter Units.Inertia J_upper = 0.8 "Inertia of the upper part, across its centre of mass";
  parameter Units.Acceleration g[3] = {0, 0, -9.81} "Gravity, in the base frame";
  parameter Units.Position p0[3] = {0, 0, 1.8} "Position at the start";
  parameter Real q0[4](each unit = "1") = {1, 0, 0, 0} "Attitude at the start";
  input Units.Force force[3] "Force of the surroundings at the control point, in the base frame";
  input Units.Torque torque[3] "Torque of the surroundings, in the base frame";
  output Units.Position p[3](start = p0, each fixed = true, each stateSelect = StateSelect.always)
    "Position of the control point in the base frame";
  output Units.Velocity v[3](each start = 0, each fixed = true, each stateSelect = StateSelect.always)
    "Velocity of the control point in the base frame";
  output Real q[4](start = q0, each fixed = true, each unit = "1",
    each stateSelect = StateSelect.always)
    "Unit quaternion that turns the platform's frame into the base frame, scalar first";
  output Units.AngularVelocity w[3](each start = 0, each fixed = true,
    each stateSelect = StateSelect.always) "Angular velocity in the base frame";
  output Units.Position length[6] "Lengths of the legs";
  output Units.Velocity velocity[6] "Rates of the lengths";
  output Units.Energy energy "Kinetic energy of platform and legs, and that of gravity";
protected
  constant Real pi(unit = "1") = 3.14159265358979323846 "Circle constant";
  constant Real side[6](each unit = "1") = {1, -1, 1, -1, 1, -1} "Side of its pair for each leg";
  constant Real pair[6](each unit = "1") = {0, 0, 1, 1, 2, 2} "Number of its pair for each leg";
  Real R[3, 3](each unit = "1") "Rotation from the platform's frame to the base frame";
  Units.Position d[3] "Centre of mass from the control point, in the base frame";
  Units.AngularVelocity w_own[3] "Angular velocity in the platform's frame";
  Units.Position arm[6, 3] "Upper joints from the control point, in the base frame";
  Units.Position leg[6, 3] "Upper joints from lower joints, in the base frame";
  Units.Velocity v_joint[6, 3] "Velocities of the upper joints";
  Units.Acceleration swing[6, 3] "Accelerations of the upper joints without that of the platform";
  Real u[6, 3](each unit = "1") "Directions of the legs";
  Real turn[6, 3](each unit = "1/s") "Rates of the directions";
  Real turn2[6](each unit = "1/s2") "Squares of the rates of the directions";
  Units.Inertia J_leg[6] "Inertias of the legs about their lower joints";
  Real balance[6](each unit = "kg.m") "Masses times distances from the lower joints";
  Real growth[6](each unit = "kg.m") "Slopes of the inertias with the lengths";
  Units.Mass m_along "Mass that an upper joint feels along its leg";
  Units.Mass m_across[6] "Masses that the upper joints feel across their legs";
  Units.Mass m_drive "Mass that the inertia of a drive amounts to, along its leg";
  Units.Force drive[6] "Forces of the drives along the legs, positive when they lengthen";
  Units.Force on_platform[6, 3] "Forces of the legs on the platform, without its acceleration";
  Real jacobian[6, 6](each unit = "1")
    "Rates of the lengths for the velocity of the control point and for w, the latter in m";
  Units.Mass mass "Mass of the platform and what the legs add across";
  Real first[3](each unit = "kg.m") "The same masses times their places from the control point";
  Real second[3, 3](each unit = "kg.m2") "What the legs add, times their places twice";
  Real M[6, 6](each unit = "kg") "Mass matrix of platform and legs; with m and m2 for turns";
  Real load[6](each unit = "N") "Forces, and torques in N.m, without those of acceleration";
  Real acceleration[6](each unit = "m/s2") "Acceleration of the control point; angular, in rad/s2";
equation
  R = Rotations.matrix(q);
  der(p) = v;
  w_own = transpose(R)*w;
  der(q[1]) = -0.5*(q[2]*w_own[1] + q[3]*w_own[2] + q[4]*w_own[3]);
  der(q[2]) = 0.5*(q[1]*w_own[1] + q[3]*w_own[3] - q[4]*w_own[2]);
  der(q[3]) = 0.5*(q[1]*w_own[2] + q[4]*w_own[1] - q[2]*w_own[3]);
  der(q[4]) = 0.5*(q[1]*w_own[3] + q[2]*w_own[2] - q[3]*w_own[1]);
  der(v) = acceleration[1:3];
  der(w) = acceleration[4:6];
  d = R*centre;
  m_along = m_upper + m_drive;
  for i in 1:6 loop
    arm[i, :] = R*{platform_radius*cos(2*pi/3*pair[i] + side[i]*platform_half),
      platform_radius*sin(2*pi/3*pair[i] + side[i]*platform_half), 0};
    leg[i, :] = p + arm[i, :] - {base_radius*cos(2*pi/3*pair[i] + side[i]*base_half),
      base_radius*sin(2*pi/3*pair[i] + side[i]*base_half), 0};
    v_joint[i, :] = v + cross(w, arm[i, :]);
    swing[i, :] = cross(w, cross(w, arm[i, :]));
    length[i] = sqrt(leg[i, 1]^2 + leg[i, 2]^2 + leg[i, 3]^2);
    u[i, :] = leg[i, :]/length[i];
    jacobian[i, :] = cat(1, u[i, :], cross(arm[i, :], u[i, :]));
    velocity[i] = u[i, :]*v_joint[i, :];
    turn[i, :] = (v_joint[i, :] - velocity[i]*u[i, :])/length[i];
    turn2[i] = turn[i, :]*turn[i, :];
    J_leg[i] = J_lower + m_lower*c_lower^2 + J_upper + m_upper*(length[i] - c_upper)^2;
    growth[i] = 2*m_upper*(length[i] - c_upper);
    balance[i] = m_lower*c_lower + m_upper*(length[i] - c_upper);
    m_across[i] = J_leg[i]/length[i]^2;
    on_platform[i, :] = (drive[i] - m_along*(u[i, :]*swing[i, :] + length[i]*turn2[i])
      + 0.5*growth[i]*turn2[i] + m_upper*(u[i, :]*g))*u[i, :]
      - m_across[i]*(swing[i, :] - (u[i, :]*swing[i, :])*u[i, :] - 2*velocity[i]*turn[i, :])
      - (growth[i]*velocity[i]*turn[i, :] - balance[i]*(g - (u[i, :]*g)*u[i, :]))/length[i];
  end for;
  mass = m + sum(m_across);
  first = m*d + transpose(arm)*m_across;
  second = transpose(arm)*diagonal(m_across)*arm;
  M = transpose(jacobian)*diagonal(fill(m_along, 6) - m_across)*jacobian
    + [mass*identity(3), -skew(first); skew(first), R*J*transpose(R) - m*skew(d)*skew(d)
      + (second[1, 1] + second[2, 2] + second[3, 3])*identity(3) - second];
  load = cat(1, force - m*(cross(w, cross(w, d)) - g) + transpose(on_platform)*fill(1, 6),
    torque - cross(w, R*(J*w_own)) - cross(d, m*(cross(w, cross(w, d)) - g))
    + {sum(arm[i, 2]*on_platform[i, 3] - arm[i, 3]*on_platform[i, 2] for i in 1:6),
      sum(arm[i, 3]*on_platform[i, 1] - arm[i, 1]*on_platform[i, 3] for i in 1:6),
      sum(arm[i, 1]*on_platform[i, 2] - arm[i, 2]*on_platform[i, 1] for i in 1:6)});
  M*acceleration = load;
  energy = 0.5*m*((v + cross(w, d))*(v + cross(w, d))) + 0.5*(w_own*(J*w_own))
    - m*(g*(p + d)) + sum(0.5*(J_leg[i]*turn2[i] + m_along*velocity[i]^2)
      - balance[i]*(u[i, :]*g) for i in 1:6);
  annotation (Documentation(info = "<html>
<p>Equations of motion of a Stewart platform with legs that have mass. Each leg is a cylinder that turns
about its lower joint and a rod that slides in it; neither spins about its axis. A leg's force on the
platform follows from its own balance: along it
<code>drive - m_along*l'' + 0.5*J'*|u'|^2</code>, across it from the angular momentum about the lower
joint, <code>J u x u'</code>; both with gravity. Its parts with the platform's acceleration make the
mass matrix <code>M</code> (<code>M_s</code> in Fig. 6), the rest is <code>load</code>. Extending classes
give <code>drive</code> and <code>m_drive</code>.</p>
<p>Joints lie in pairs at 0, 120 and 240 degrees: lower ones at the pair's angle plus and minus
<code>base_half</code>, upper ones plus and minus <code>platform_half</code>. Legs are numbered by pairs,
the plus side first. The base frame has its origin in the plane of the lower joints, the control point
<code>P</code> and the platform's frame lie in that of the upper ones.</p>
<p>Yu et al., IEEE Access (2018), have the dynamics of the robot in Fig. 6 and no number of its geometry
or masses: all are assumed.</p>
</html>"));
end PartialStewart;
