within SpaceDocking.Ropes;
model PlanarRope "Wire rope in a plane, held at both ends, and a rod that presses on one node"
  constant Integer n = 31 "Number of nodes";
  parameter Units.Position length(min = 1e-6) = 0.30 "Length without load";
  parameter Units.Mass m(min = 1e-9) = 0.01095 "Mass of the whole rope";
  parameter Units.Stiffness k_tes = 3e7 "Stiffness of the spring between two nodes";
  parameter Units.Damping c_tes = 0 "Damping of that spring";
  parameter Units.RotationalStiffness k_tor = 2.4 "Stiffness of the torsion spring at a node";
  parameter Units.RotationalDamping c_tor = 0 "Damping of that spring";
  parameter Units.Curvature curvature = -1.564778
    "Natural curvature, positive to the left from a to b; 26 degrees over 29 joints";
  parameter Units.RotationalStiffness k_clamp = 0 "Torsion springs at the ends; 0: pinned";
  parameter Units.Position x0[n - 2] = {
    0.00711250918996, 0.0143766002624, 0.0218291039229, 0.0295018458655, 0.0374205669249,
    0.0456039132995, 0.0540625470878, 0.0627984379471, 0.0718044025625, 0.0810639576163,
    0.0905515424281, 0.100233148747, 0.110067368077, 0.1200068338, 0.13, 0.1399931662,
    0.149932631923, 0.159766851253, 0.169448457572, 0.178936042384, 0.188195597437,
    0.197201562053, 0.205937452912, 0.214396086701, 0.222579433075, 0.230498154134,
    0.238170896077, 0.245623399738, 0.25288749081}
    "Places of the inner nodes at the start, along x";
  parameter Units.Position y0[n - 2] = {
    0.00702931119919, 0.0139018625852, 0.0205696316604, 0.0269827397568, 0.0330895185046,
    0.0388368391766, 0.0441707241245, 0.049037240972, 0.0533836577511, 0.0571598121611,
    0.0603196229772, 0.0628226495148, 0.064635589534, 0.0657336003502, 0.0661013344665,
    0.0657336003502, 0.064635589534, 0.0628226495148, 0.0603196229772, 0.0571598121611,
    0.0533836577511, 0.049037240972, 0.0441707241245, 0.0388368391766, 0.0330895185046,
    0.0269827397568, 0.0205696316604, 0.0139018625852, 0.00702931119919}
    "Places of the inner nodes at the start, along y";
  parameter Integer node(min = 2, max = n - 1) = 16 "Node that the rod meets, counted from 1";
  parameter Units.Stiffness k_rod = 1e5 "Stiffness of the contact between rod and node";
  parameter Units.Damping c_rod = 0 "Damping of that contact";
  parameter Units.Position rod_width(min = 0) = 0
    "Half of what the rod's flat end covers along x; 0: a point";
  parameter Real rod_side(unit = "1", min = -1, max = 1) = 1
    "1: the rod presses along +y, -1: along -y";
  parameter Real largest_strain(unit = "1", min = 0) = 0.05
    "Strain of a segment at which the rope counts as torn";
  input Units.Position end_a[2](start = {0, 0}) "Place of the first node";
  input Units.Position end_b[2](start = {0.26, 0}) "Place of the last node";
  input Units.Velocity rate_a[2](each start = 0) "Velocity of the first node";
  input Units.Velocity rate_b[2](each start = 0) "Velocity of the last node";
  input Real clamp_a[2](each unit = "1", start = {1, 0})
    "Unit vector along which the clamp lets the rope leave a";
  input Real clamp_b[2](each unit = "1", start = {1, 0})
    "Unit vector along which the rope arrives in the clamp at b";
  input Units.Position position "Place of the rod along y";
  input Units.Velocity velocity "Velocity of the rod along y";
  output Units.Force force "Force on the rod, along y";
  output Units.Force force_a[2] "Force of the rope on its first holder";
  output Units.Force force_b[2] "Force of the rope on its last holder";
  output Units.Torque torque_a "Torque of the rope on its first holder";
  output Units.Torque torque_b "Torque of the rope on its last holder";
  output Units.Impulse impulse(start = 0, fixed = true) "What the rod has pressed with so far";
  output Units.Position depth "How far the rod has pressed the node from its place at the start";
  output Units.Energy energy "Kinetic and elastic energy, that of the contact with the rod too";
  output Units.Power dissipation "Power that the dampers take";
  output Units.Momentum momentum[2] "Momentum of the inner nodes";
  output Units.AngularMomentum angular_momentum
    "Angular momentum of the inner nodes about the origin, to the left";
  output Units.Position place[2] "Place of the node that the rod meets";
  output Real strain(unit = "1") "Largest stretching of a segment, of its length";
  Units.Position x[n - 2](start = x0, each fixed = true) "Inner nodes, along x";
  Units.Position y[n - 2](start = y0, each fixed = true) "Inner nodes, along y";
  Units.Velocity vx[n - 2](each start = 0, each fixed = true) "Their velocities, along x";
  Units.Velocity vy[n - 2](each start = 0, each fixed = true) "Their velocities, along y";
  final parameter Units.Time longest_step = 2*sqrt(2)/max(2*sqrt(k_tes*(n - 1)/m),
    4*(n - 1)/length*sqrt(k_tor*(n - 1)/m)) "Longest stable step of rk4, without dampers";
protected
  parameter Units.Position s = length/(n - 1) "Length of a segment without load";
  parameter Units.Mass m_node = m/(n - 1) "Mass of an inner node; the ends have half of it";
  parameter Units.Mobility mobility = (n - 1)/m "One over it: a product is faster than a quotient";
  parameter Units.Angle bend = curvature*s "Natural angle at a node";
  parameter Real met[n - 2](each unit = "1") = {if i + 1 == node then rod_side else 0
    for i in 1:n - 2} "1 or -1 for the node that the rod meets";
  Units.Position dx[n - 1] "Segments, along x";
  Units.Position dy[n - 1] "Segments, along y";
  Real q[n - 1](each unit = "m2") "Squares of the lengths of the segments";
  Units.Position e[n - 1] "Lengths of the segments";
  Real w[n - 1](each unit = "1/m") "One over their lengths";
  Real ux[n - 1](each unit = "1") "Directions, along x";
  Real uy[n - 1](each unit = "1") "Directions, along y";
  Units.Force pull[n - 1] "Tensions";
  Units.Force shear[n - 1] "Shear forces";
  Units.Torque moment[n] "Moments at the nodes";
  Units.Force fx[n - 1] "What the segments carry, along x";
  Units.Force fy[n - 1] "What the segments carry, along y";
  Units.Velocity wx[n] "Velocities of all nodes, along x";
  Units.Velocity wy[n] "Velocities of all nodes, along y";
  Units.Velocity stretching[n - 1] "Rates of the lengths";
  Units.AngularVelocity turning[n - 1] "Rates of the directions";
  parameter Real q_short(unit = "m2") = (s*max(0, 1 - largest_strain))^2
    "Square of the length at which a segment counts as torn";
  parameter Real q_long(unit = "m2") = (s*(1 + largest_strain))^2 "The same, stretched";
  Real torn(unit = "1") "How many segments are torn";
  Real kinked(unit = "1") "How many angles are too large";
  Real crowded(unit = "1") "How many other nodes the rod meets";
  Real sharpest(unit = "1") "Largest sine of an angle between two segments";
  Units.Position pressed "Overlap of rod and node";
  Units.Velocity pressing "Its rate";
  Units.Force push "Force of the rod on the node, in the direction in which it presses";
equation
  dx[1] = x[1] - end_a[1];
  dy[1] = y[1] - end_a[2];
  for i in 2:n - 2 loop
    dx[i] = x[i] - x[i - 1];
    dy[i] = y[i] - y[i - 1];
  end for;
  dx[n - 1] = end_b[1] - x[n - 2];
  dy[n - 1] = end_b[2] - y[n - 2];
  wx[1] = rate_a[1];
  wy[1] = rate_a[2];
  wx[n] = rate_b[1];
  wy[n] = rate_b[2];
  for i in 2:n - 1 loop
    wx[i] = vx[i - 1];
    wy[i] = vy[i - 1];
  end for;
  for i in 1:n - 1 loop
    q[i] = dx[i]*dx[i] + dy[i]*dy[i];
    e[i] = sqrt(q[i]);
    w[i] = e[i]/q[i];
    ux[i] = dx[i]*w[i];
    uy[i] = dy[i]*w[i];
    stretching[i] = ux[i]*(wx[i + 1] - wx[i]) + uy[i]*(wy[i + 1] - wy[i]);
    turning[i] = w[i]*(ux[i]*(wy[i + 1] - wy[i]) - uy[i]*(wx[i + 1] - wx[i]));
    pull[i] = k_tes*(e[i] - s) + c_tes*stretching[i];
    shear[i] = w[i]*(moment[i] - moment[i + 1]);
    fx[i] = pull[i]*ux[i] - shear[i]*uy[i];
    fy[i] = pull[i]*uy[i] + shear[i]*ux[i];
  end for;
  moment[1] = k_clamp*angle(clamp_a[1], clamp_a[2], ux[1], uy[1]);
  for i in 2:n - 1 loop
    moment[i] = k_tor*(angle(ux[i - 1], uy[i - 1], ux[i], uy[i]) - bend)
      + c_tor*(turning[i] - turning[i - 1]);
  end for;
  moment[n] = k_clamp*angle(ux[n - 1], uy[n - 1], clamp_b[1], clamp_b[2]);
  when initial() then
    assert((end_b - end_a)*(end_b - end_a) <= length^2, "the rope is shorter than its span: it is "
      + String(length) + " m long and its ends are "
      + String(sqrt((end_b - end_a)*(end_b - end_a))) + " m apart");
    assert(pressed < 1e-6, "the rod begins pressed into the rope, by " + String(pressed)
      + " m at node " + String(node) + ": let it begin where it does not touch");
  end when;
  pressed = rod_side*position - met*y;
  pressing = rod_side*velocity - met*vy;
  push = noEvent(if pressed > 0 then max(0, k_rod*pressed + c_rod*pressing) else 0);
  force = -rod_side*push;
  der(impulse) = push;
  for i in 1:n - 2 loop
    der(x[i]) = vx[i];
    der(y[i]) = vy[i];
    der(vx[i]) = mobility*(fx[i + 1] - fx[i]);
    der(vy[i]) = mobility*(fy[i + 1] - fy[i] + met[i]*push);
  end for;
  force_a = {fx[1], fy[1]};
  force_b = {-fx[n - 1], -fy[n - 1]};
  torque_a = moment[1];
  torque_b = -moment[n];
  depth = met*y - met*y0;
  energy = 0.5*m_node*(vx*vx + vy*vy) + sum({0.5*k_tes*(e[i] - s)^2 for i in 1:n - 1})
    + sum({0.5*k_tor*(angle(ux[i - 1], uy[i - 1], ux[i], uy[i]) - bend)^2 for i in 2:n - 1})
    + 0.5*k_clamp*(angle(clamp_a[1], clamp_a[2], ux[1], uy[1])^2
      + angle(ux[n - 1], uy[n - 1], clamp_b[1], clamp_b[2])^2)
    + noEvent(if pressed > 0 then 0.5*k_rod*pressed^2 else 0);
  dissipation = c_tes*(stretching*stretching)
    + c_tor*sum({(turning[i] - turning[i - 1])^2 for i in 2:n - 1})
    + noEvent(if pressed > 0 then (push - k_rod*pressed)*pressing else 0);
  momentum = {m_node*sum(vx), m_node*sum(vy)};
  angular_momentum = m_node*(x*vy - y*vx);
  place = rod_side*{met*x, met*y};
  sharpest = max({abs(ux[i - 1]*uy[i] - uy[i - 1]*ux[i]) for i in 2:n - 1});
  strain = max({abs(e[i] - s) for i in 1:n - 1})/s;
  // Asserts are looked at after each internal step: without roots, quotients and maxima.
  torn = sum({noEvent(if q[i] < q_long and q[i] > q_short then 0 else 1) for i in 1:n - 1});
  kinked = sum({noEvent(if (dx[i - 1]*dy[i] - dy[i - 1]*dx[i])^2 < 0.25*q[i - 1]*q[i] then 0 else 1)
    for i in 2:n - 1});
  assert(torn < 0.5, "the rope is torn: a segment has the strain " + String(strain)
    + "; where steps are fixed they must be shorter than longest_step = " + String(longest_step)
    + " s of rk4, 0.7 times that of verlet, and shorter still with dampers");
  crowded = sum({noEvent(if abs(met[i]) < 0.5 and pressed > 0 and abs(x[i] - place[1]) < rod_width
    and rod_side*(position - y[i]) > 0 then 1 else 0) for i in 1:n - 2});
  assert(crowded < 0.5, "the rod meets more than node " + String(node) + ": its end of "
    + String(2*rod_width) + " m covers further nodes that touch it, and this rope has a contact of"
    + " one node");
  assert(kinked < 0.5, "the rope is kinked: two segments are at an angle whose"
    + " sine is " + String(sharpest) + "; the angles of this model hold below 0.5");
  annotation (Documentation(info = "<html>
<p>31 nodes joined by springs <code>k_tes</code>, with a torsion spring <code>k_tor</code> at each
inner node: Cai, Chen, Luo and Wang, Aerospace 8, 381 (2021), Eq 12 (without the factor A), 26 and
39, in coordinates of the nodes instead of angles and lengths. A segment carries its tension along
itself and the shear force <code>(M1 - M2)/e</code> across.</p>
<p>The ends are where the inputs put them, at rest by default; a ring moves them. With
<code>k_clamp = 0</code> they are pinned, else a torsion spring ties the first and the last segment
to the directions <code>clamp_a</code>, <code>clamp_b</code>, unit vectors. <code>c_tes</code> and
<code>c_tor</code> are the internal damping; the paper gives no number.</p>
<p>A rod meets one node, <code>node</code>, from the side <code>rod_side</code>, and never pulls; the
force acts along y all through the contact, as the paper assumes. A rod whose flat end of
<code>2*rod_width</code> would touch a second node ends the run: there is no contact for it.</p>
<p><code>x0</code> and <code>y0</code> are an equilibrium of the default parameters; others are
computed by <code>python_blocks.ropes.rope_statics.equilibrium</code>. A rope that is held still by its
ends conserves energy without dampers. <code>rk4</code> must take steps below
<code>longest_step</code>; a rope that a longer one tears apart ends the run with an error.</p>
</html>"));
end PlanarRope;
