within SpaceDocking.Interfaces;
partial model PartialChain "Chain of links with joints that stick, on a free or guided base"
  constant Integer n "Number of joints";
  constant Real axis[n, 3](each unit = "1") "Axes of the joints, unit vectors";
  constant Units.Position offset[n, 3] "Origins of the frames, each in the frame before it";
  constant Boolean planar = false
    "The base keeps to its x-z plane, as on a table that carries it on air";
  parameter Units.Mass m[n + 1] "Masses of base and links";
  parameter Units.Position center[n + 1, 3] "Centres of mass, in the frame of each link";
  parameter Units.Inertia J[n + 1, 3, 3] "Inertias about the centres of mass";
  parameter Units.Position tip[3] = {0, 0, 0} "End of the arm, in the frame of the last link";
  parameter Units.Torque static[n] = zeros(n) "Static friction of the joints";
  parameter Units.Torque coulomb[n] = zeros(n) "Coulomb friction of the joints";
  parameter Units.RotationalDamping viscous[n] = zeros(n) "Viscous friction of the joints";
  parameter Units.Inertia rotor[n] = zeros(n)
    "What the joints feel of their motors: ratio of the gear squared times the shaft's inertia";
  parameter Units.Position link_radius[n] = zeros(n)
    "Radii of the links, capsules from joint to joint and to the end";
  parameter Units.Position body[3] = {0, 0, 0}
    "Edges of the spacecraft's body, a box below the foot of the rail; none if one of them is zero";
  parameter Units.Angle phi_min[n] = fill(-3.2, n) "Smallest joint angles";
  parameter Units.Angle phi_max[n] = fill(3.2, n) "Largest joint angles";
  parameter Boolean guided = false "A rail along z guides the base until the springs are at rest";
  parameter Units.Stiffness stiffness[2] = {0, 0} "Stiffnesses of the two springs along the rail";
  parameter Units.Position compression = 0 "Compression of the springs at the start";
  parameter Units.Angle phi0[n] = zeros(n) "Joint angles at the start";
  parameter Units.AngularVelocity rate0[n] = zeros(n) "Joint rates at the start";
  parameter Units.Position r0[3] = {0, 0, 0} "Position of the base at the start";
  parameter Units.Velocity v0[3] = {0, 0, 0} "Velocity of the base at the start";
  parameter Real q0[4](each unit = "1") = {1, 0, 0, 0} "Attitude of the base at the start";
  parameter Units.AngularVelocity w0[3] = {0, 0, 0} "Angular velocity of the base at the start";
  input Units.Torque torque[n] "Torques of drives at the joints";
  input Units.Force base_force[3] "Force on the base at its origin, in the world frame";
  input Units.Torque base_torque[3] "Torque on the base, in the world frame";
  input Units.Force tip_force[3] "Force on the last link at its end, in the world frame";
  input Units.Torque tip_torque[3] "Torque on the last link at its end, in the world frame";
  output Units.Angle phi[n] "Joint angles";
  output Units.AngularVelocity rate[n] "Joint rates";
  output Integer mode[n](
    start = {if rate0[i] > 0 then 1 elseif rate0[i] < 0 then -1 else 0 for i in 1:n},
    each fixed = true) "1 forward, -1 backward, 0 sticking";
  output Units.Torque friction[n] "Torques of friction at the joints";
  output Units.Position r[3](start = r0, each fixed = true) "Position of the base";
  output Units.Velocity v[3](start = v0, each fixed = true) "Velocity of the base";
  output Real q[4](start = q0, each fixed = true, each unit = "1")
    "Unit quaternion that turns the frame of the base into the world frame, scalar first";
  output Units.AngularVelocity w[3](start = w0, each fixed = true)
    "Angular velocity of the base, in its frame";
  output Units.Position position[n + 1, 3] "Origins of the frames, in the world frame";
  output Real attitude[n + 1, 4](each unit = "1") "Unit quaternions of the frames, scalar first";
  output Units.Position tip_position[3] "Position of the end, in the world frame";
  output Units.Position center_of_mass[3] "Centre of mass, in the world frame";
  output Units.Momentum momentum[3] "Momentum, in the world frame";
  output Units.AngularMomentum angular_momentum[3]
    "Angular momentum about the centre of mass, in the world frame";
  output Units.Energy energy "Kinetic energy";
  output Units.Energy travel_energy "Its part of the motion of the centre of mass";
  output Units.Energy spring_energy "Energy of the springs";
  output Units.Energy friction_heat(start = 0, fixed = true) "What friction has taken";
  output Units.Power dissipation "Power that friction takes";
  output Units.Force rail_force[3] "Force of the rail on the base, in its frame";
  output Units.Torque rail_torque[3] "Torque of the rail on the base, in its frame";
  output Boolean released(start = not guided, fixed = true) "The base has left the rail";
  output Units.Time release_time(start = 0, fixed = true) "When it left the rail";
  output Units.Velocity release_speed(start = 0, fixed = true) "Speed along the rail then";
  output Units.Angle release_phi[n](each start = 0, each fixed = true) "Joint angles then";
  output Units.Time rest_time(start = 0, fixed = true) "Since when all joints stick";
  output Units.AngularVelocity spin "Magnitude of the angular velocity of the base";
  Chains.StickingJoint joint[n](phi0 = phi0, rate0 = rate0) "Joints";
protected
  Units.AngularAcceleration acceleration[n] "Accelerations of the joints";
  Units.Torque load[n] "Torques that friction of sticking joints has to hold";
  Units.AngularAcceleration base_turning[3] "Angular acceleration of the base, in its frame";
  Units.Acceleration base_acceleration[3] "Acceleration of the base, in its frame";
  Real moves[n](each unit = "1") "1 for joints that slide, 0 for joints that stick";
  Real base_moves[6](each unit = "1") "1 where the base may move";
  Real R[3, 3](each unit = "1") "Rotation from the frame of the base to the world frame";
  Units.Position travel "Way along the rail";
  Units.Force push "Force of the springs along z of the base";
  Units.Torque slide[n] "Friction of sliding joints";
  Boolean overloaded[n] "Stick under a load beyond static friction";
  Boolean reversed[n] "Have just passed rest";
  Boolean resting(start = false, fixed = true) "Released, and all joints stick";
  Real choice[n](each unit = "1") "Modes after one change, as numbers";
  Integer next[n] "Modes after one change";
  Integer changes(start = 0, fixed = true) "Joints that have changed at this instant";
  Units.Position own_center[3] "Centre of mass from the base, in its frame";
  Units.Momentum own_momentum[3] "Momentum, in the frame of the base";
  Units.AngularMomentum own_angular_momentum[3] "Angular momentum, in the frame of the base";
  final parameter Units.Position depth[n] = Chains.startDepths(axis, offset, phi0, tip,
    link_radius, body) "How deep the links begin in the spacecraft's body, negative outside";
  Units.Energy link_energy "Kinetic energy without that of the rotors";
equation
  phi = joint.phi;
  rate = joint.rate;
  mode = joint.mode;
  R = Rotations.matrix(q);
  travel = R[:, 3]*(r - r0);
  push = if pre(released) then 0 else sum(stiffness)*(compression - travel);
  for i in 1:n loop
    moves[i] = if pre(mode[i]) == 0 then 0 else 1;
    slide[i] = -(coulomb[i]*pre(mode[i]) + viscous[i]*rate[i]);
    friction[i] = if pre(mode[i]) == 0 then -load[i] else slide[i];
    overloaded[i] = pre(mode[i]) == 0 and (load[i] > static[i] or load[i] < -static[i]);
    reversed[i] = pre(mode[i])*rate[i] < 0;
    joint[i].acceleration = acceleration[i];
    next[i] = if choice[i] > 0.5 then 1 elseif choice[i] < -0.5 then -1 else 0;
    joint[i].next = next[i];
  end for;
  base_moves = if not pre(released) then {0, 0, 0, 0, 0, 1}
    elseif planar then {0, 1, 0, 1, 0, 1} else {1, 1, 1, 1, 1, 1};
  (acceleration, load, base_turning, base_acceleration, rail_torque, rail_force) =
    Chains.forwardDynamics(axis, offset, m, center, J, rotor, phi, rate, w, torque + slide, moves,
    base_moves, transpose(R)*base_torque, transpose(R)*base_force + {0, 0, push}, tip,
    transpose(R)*tip_torque, transpose(R)*tip_force);
  der(r) = v;
  der(v) = R*base_acceleration;
  der(q[1]) = -0.5*(q[2]*w[1] + q[3]*w[2] + q[4]*w[3]);
  der(q[2]) = 0.5*(q[1]*w[1] + q[3]*w[3] - q[4]*w[2]);
  der(q[3]) = 0.5*(q[1]*w[2] + q[4]*w[1] - q[2]*w[3]);
  der(q[4]) = 0.5*(q[1]*w[3] + q[2]*w[2] - q[3]*w[1]);
  der(w) = base_turning;
  choice = Chains.settle(pre(mode), overloaded, reversed, rate, acceleration, load, static, coulomb,
    pre(changes));
  changes = if sum(abs(next - pre(mode))) > 0 then pre(changes) + 1 else 0;
  released = pre(released) or travel >= compression;
  resting = pre(released) and changes == 0 and sum(abs(mode)) == 0;
  when released then
    release_time = time;
    release_speed = R[:, 3]*v;
    release_phi = phi;
  end when;
  when resting then
    rest_time = time;
  end when;
  (position, attitude) = Chains.linkFrames(axis, offset, phi, r, q);
  tip_position = position[n + 1, :] + Rotations.matrix(attitude[n + 1, :])*tip;
  (own_center, own_momentum, own_angular_momentum, link_energy) = Chains.momenta(axis, offset, m,
    center, J, phi, rate, transpose(R)*v, w);
  energy = link_energy + 0.5*sum(rotor[i]*rate[i]^2 for i in 1:n);
  center_of_mass = r + R*own_center;
  momentum = R*own_momentum;
  angular_momentum = R*own_angular_momentum;
  travel_energy = momentum*momentum/(2*sum(m));
  spring_energy = if pre(released) then 0 else 0.5*sum(stiffness)*(compression - travel)^2;
  dissipation = -friction*rate;
  der(friction_heat) = dissipation;
  spin = sqrt(w*w);
  for i in 1:n + 1 loop
    when initial() then
      assert(m[i] > 0, "the mass of link " + String(i - 1) + " is not positive");
      assert(abs(J[i, 1, 2] - J[i, 2, 1]) + abs(J[i, 1, 3] - J[i, 3, 1])
        + abs(J[i, 2, 3] - J[i, 3, 2]) <= 0,
        "the inertia of link " + String(i - 1) + " is not symmetric");
      assert(J[i, 1, 1] > 0 and J[i, 1, 1]*J[i, 2, 2] > J[i, 1, 2]^2
        and J[i, 1, :]*cross(J[i, 2, :], J[i, 3, :]) > 0,
        "the inertia of link " + String(i - 1) + " is not positive definite");
    end when;
  end for;
  for i in 1:n loop
    when initial() then
      assert(static[i] >= coulomb[i], "the static friction of joint " + String(i)
        + " is below its Coulomb friction");
      assert(rotor[i] >= 0, "the rotor of joint " + String(i) + " has a negative inertia");
      assert(phi0[i] >= phi_min[i] and phi0[i] <= phi_max[i], "joint " + String(i) + " begins at "
        + String(phi0[i]) + " rad, outside of its limits");
      assert(not guided or depth[i] <= 0, "link " + String(i) + " begins " + String(depth[i])
        + " m deep in the spacecraft");
    end when;
    assert(phi[i] >= phi_min[i] and phi[i] <= phi_max[i], "joint " + String(i)
      + " is outside of its limits", AssertionLevel.warning);
  end for;
  when initial() then
    assert(not guided or compression > 0 and sum(stiffness) > 0,
      "guided by the rail, but its springs are released already");
    assert(not guided or w0*w0 <= 0, "guided by the rail, but the base turns at the start");
  end when;
  annotation (Documentation(info = "<html>
<p>Extending classes give the number of joints, their axes and the origins of the frames. These are
constants: they are multiplied out when an FMU is made. Masses, inertias, friction, springs and what is
so at the start are parameters.</p>
<p><b>Joints</b> stick as long as static friction holds their load, the torque that keeps the joint still
with all other joints in the motion that they have. They slide with Coulomb and viscous friction. Modes
change by events, one joint after the other: see <a href=\"modelica://SpaceDocking.Chains.settle\">settle</a>.
A joint that sticks stands exactly still, and the chain moves as if it were welded.</p>
<p><b>Rotors</b> turn with the joint behind a gear of a large ratio: they add to the inertia that the joint
moves, and to the kinetic energy; their part of the angular momentum, smaller by the ratio, is left
out.</p>
<p><b>Base.</b> While it is guided the base moves along z of its frame only, and two springs push it.
It leaves the rail where their force is zero; <code>rail_force</code> and <code>rail_torque</code> are what
the rail bears until then. After that it is free, or keeps to its x-z plane if <code>planar</code>.</p>
<p><b>Ledger.</b> <code>energy + spring_energy + friction_heat</code> is constant without outer forces and
drives; <code>momentum</code> and <code>angular_momentum</code> are constant once the base is free.</p>
<p><b>Spacecraft.</b> Its body is a box with the top at the foot of the rail, as the base begins; a chain
that begins with a link in it is refused.</p>
<p>There is no gravity, and joint limits are not walls: leaving them is a warning.</p>
</html>"));
end PartialChain;
