within SpaceDocking.Ropes;
model SpatialRope "Wire rope in space, held at both ends, and a force on one node"
  extends Interfaces.PartialSpatialRope;
  parameter Integer node(min = 2, max = n - 1) = 8 "Node that the force acts on, counted from 1";
  input Units.Position end_a[3](start = {0, 0, 0}) "Place of the first node";
  input Units.Velocity rate_a[3](each start = 0) "Velocity of the first node";
  input Real clamp_a[3](each unit = "1", start = {1, 0, 0})
    "Unit vector along which the clamp lets the rope leave a";
  input Real director_a[3](each unit = "1", start = {0, 0, 1}) "Unit vector across it";
  input Units.AngularVelocity turning_a[3](each start = 0) "Angular velocity of the clamp at a";
  input Units.Position end_b[3](start = {0.3, 0, 0}) "Place of the last node";
  input Units.Velocity rate_b[3](each start = 0) "Velocity of the last node";
  input Real clamp_b[3](each unit = "1", start = {1, 0, 0})
    "Unit vector along which the rope arrives in the clamp at b";
  input Real director_b[3](each unit = "1", start = {0, 0, 1}) "Unit vector across it";
  input Units.AngularVelocity turning_b[3](each start = 0) "Angular velocity of the clamp at b";
  input Units.Force force[3](each start = 0) "Force on the node";
  output Units.Position position[3] "Place of the node";
protected
  parameter Real met[n](each unit = "1") = {if i == node then 1 else 0 for i in 1:n}
    "1 for the node that the force acts on";
equation
  stored = 0;
  lost = 0;
  shape[1, :] = end_a;
  rate[1, :] = rate_a;
  t[1, :] = clamp_a;
  o[1, :] = director_a;
  turning[1, :] = turning_a;
  shape[n, :] = end_b;
  rate[n, :] = rate_b;
  t[n + 1, :] = clamp_b;
  o[n + 1, :] = director_b;
  turning[n + 1, :] = turning_b;
  for i in 1:n loop
    load[i, :] = met[i]*force;
  end for;
  position = {met*shape[:, 1], met*shape[:, 2], met*shape[:, 3]};
  annotation (Documentation(info = "<html>
<p>The ends are where the inputs put them. <code>k_clamp = 0</code> pins them, else a spring ties the
first and the last segment to the directions of the clamps; <code>k_spin</code> ties their directors to
those of the clamps. Clamps at half a segment are twice as stiff as a node: <code>2*EI/s</code> and
<code>2*GJ/s</code>.</p>
</html>"));
end SpatialRope;
