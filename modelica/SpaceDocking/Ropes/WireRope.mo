within SpaceDocking.Ropes;
model WireRope "Wire rope with stretching and bending stiffness, free at both ends"
  constant Integer n = 31 "Number of nodes";
  parameter Units.Position length = 1 "Length without load";
  parameter Units.Mass m = 0.3 "Mass of the whole rope";
  parameter Units.Force EA = 500 "Stretching stiffness: force at a strain of one";
  parameter Units.BendingStiffness EI = 0.02 "Bending stiffness";
  parameter Units.Damping d = 0 "Damping of each segment along its direction";
  parameter Units.Acceleration g[3] = {0, 0, 0} "Gravity";
  parameter Units.Curvature curvature = 0 "Curvature at the start, in the x-y plane";
  input Units.Force force_a[3] "Force on the first node";
  input Units.Force force_b[3] "Force on the last node";
  output Units.Position position_a[3] "Position of the first node";
  output Units.Position position_b[3] "Position of the last node";
  output Units.Velocity velocity_a[3] "Velocity of the first node";
  output Units.Velocity velocity_b[3] "Velocity of the last node";
  output Units.Energy energy "Kinetic and elastic energy, and that of gravity";
  output Units.Power dissipation "Power that the dampers of the segments take";
  Units.Position r[n, 3](
    start = {{(i - 1)*length/(n - 1), 0.5*curvature*((i - 1)*length/(n - 1))^2, 0} for i in 1:n},
    each fixed = true) "Positions of the nodes";
  Units.Velocity v[n, 3](each start = 0, each fixed = true) "Velocities of the nodes";
protected
  final parameter Units.Position s = length/(n - 1) "Length of a segment without load";
  final parameter Units.Mass m_node = m/n "Mass of a node";
  final parameter Units.Mobility mobility = n/m "One over it: a product is faster than a quotient";
  final parameter Units.Stiffness k = EA/s "Stiffness of a segment";
  final parameter Units.Stiffness k_bow = EI/s^3 "Force for each metre of a second difference";
  Real q[n - 1](each unit = "m2") "Squares of the present lengths of the segments";
  Units.Position e[n - 1] "Present lengths of the segments";
  Real w[n - 1](each unit = "1/m") "One over them";
  Units.Velocity stretching[n - 1] "Rates of the lengths";
  Units.Force tension[n - 1] "Forces in the segments";
  Real line[n - 1](each unit = "N/m") "Forces by lengths";
  Units.Force pull[n + 1, 3] "Forces of segments on the node after them; at the ends the inputs";
  Units.Position bow[n + 2, 3] "Second differences of the positions; zero at the ends";
equation
  for i in 1:n - 1 loop
    q[i] = (r[i + 1, 1] - r[i, 1])^2 + (r[i + 1, 2] - r[i, 2])^2 + (r[i + 1, 3] - r[i, 3])^2;
    e[i] = sqrt(q[i]);
    stretching[i] = ((r[i + 1, 1] - r[i, 1])*(v[i + 1, 1] - v[i, 1])
      + (r[i + 1, 2] - r[i, 2])*(v[i + 1, 2] - v[i, 2])
      + (r[i + 1, 3] - r[i, 3])*(v[i + 1, 3] - v[i, 3]))*w[i];
    w[i] = e[i]/q[i];
    tension[i] = k*(e[i] - s) + d*stretching[i];
    line[i] = tension[i]*w[i];
  end for;
  for j in 1:3 loop
    pull[1, j] = -force_a[j];
    pull[n + 1, j] = force_b[j];
    bow[1, j] = 0;
    bow[2, j] = 0;
    bow[n + 1, j] = 0;
    bow[n + 2, j] = 0;
  end for;
  for i in 1:n - 1 loop
    for j in 1:3 loop
      pull[i + 1, j] = line[i]*(r[i + 1, j] - r[i, j]);
    end for;
  end for;
  for i in 2:n - 1 loop
    for j in 1:3 loop
      bow[i + 1, j] = r[i - 1, j] - 2*r[i, j] + r[i + 1, j];
    end for;
  end for;
  for i in 1:n loop
    for j in 1:3 loop
      der(r[i, j]) = v[i, j];
      der(v[i, j]) = mobility*(pull[i + 1, j] - pull[i, j]
        - k_bow*(bow[i, j] - 2*bow[i + 1, j] + bow[i + 2, j])) + g[j];
    end for;
  end for;
  position_a = r[1, :];
  position_b = r[n, :];
  velocity_a = v[1, :];
  velocity_b = v[n, :];
  energy = sum({0.5*m_node*(v[i, 1]^2 + v[i, 2]^2 + v[i, 3]^2) - m_node*(g[1]*r[i, 1]
      + g[2]*r[i, 2] + g[3]*r[i, 3]) for i in 1:n})
    + sum({0.5*EA/s*(e[i] - s)^2 for i in 1:n - 1})
    + sum({0.5*EI/s^3*(bow[i, 1]^2 + bow[i, 2]^2 + bow[i, 3]^2) for i in 1:n + 2});
  dissipation = sum({d*stretching[i]^2 for i in 1:n - 1});
  annotation (Documentation(info = "<html>
<p>31 point masses, joined by springs of stiffness <code>EA/s</code>. Bending acts on the second
differences of the positions, with the energy <code>EI/(2*s^3)*bow^2</code> for each inner node: exact
for small strains and moderate curvature.</p>
<p>Both ends are free; clamp them by forces, for example from a stiff spring in another component.
Without damping and end forces energy and momentum are constant.</p>
</html>"));
end WireRope;
