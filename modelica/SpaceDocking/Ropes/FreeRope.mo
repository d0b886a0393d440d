within SpaceDocking.Ropes;
model FreeRope "Wire rope in space that nothing holds"
  extends Interfaces.PartialSpatialRope(final k_clamp = 0, final k_spin = 0);
  parameter Units.Position end0[2, 3] = {{0, 0, 0}, {0.3, 0, 0}} "Places of the ends at the start";
  parameter Units.Velocity rate0[2, 3] = zeros(2, 3) "Velocities of the ends at the start";
  input Units.Force pull_a[3](each start = 0) "Force on the first node";
  input Units.Force pull_b[3](each start = 0) "Force on the last node";
  output Units.Energy total_energy "Kinetic and elastic energy, with that of the ends";
  output Units.Momentum momentum[3] "Momentum";
  output Units.AngularMomentum angular_momentum[3] "Angular momentum about the origin";
  Units.Position ends[2, 3](start = end0, each fixed = true) "Places of the ends";
  Units.Velocity end_rates[2, 3](start = rate0, each fixed = true) "Velocities of the ends";
protected
  Units.AngularMomentum orbit[n, 3] "Angular momenta of the nodes about the origin";
equation
  stored = 0;
  lost = 0;
  der(ends) = end_rates;
  0.5*m_node*der(end_rates[1, :]) = force_a + pull_a;
  0.5*m_node*der(end_rates[2, :]) = force_b + pull_b;
  shape[1, :] = ends[1, :];
  shape[n, :] = ends[2, :];
  rate[1, :] = end_rates[1, :];
  rate[n, :] = end_rates[2, :];
  t[1, :] = t[2, :];
  o[1, :] = o[2, :];
  turning[1, :] = turning[2, :];
  t[n + 1, :] = t[n, :];
  o[n + 1, :] = o[n, :];
  turning[n + 1, :] = turning[n, :];
  load = zeros(n, 3);
  total_energy = energy + 0.25*m_node*(end_rates[1, :]*end_rates[1, :]
    + end_rates[2, :]*end_rates[2, :]);
  for j in 1:3 loop
    momentum[j] = m_node*(sum(v[:, j]) + 0.5*(end_rates[1, j] + end_rates[2, j]));
    angular_momentum[j] = sum(orbit[:, j]) + J*(spin*t[2:n, j]);
  end for;
  for i in 1:n loop
    orbit[i, :] = (if i == 1 or i == n then 0.5 else 1)*m_node*cross(shape[i, :], rate[i, :]);
  end for;
  annotation (Documentation(info = "<html>
<p>The end nodes have half the mass of the others. Without forces and dampers energy, momentum and
angular momentum, with that of the spin, are constant.</p>
</html>"));
end FreeRope;
