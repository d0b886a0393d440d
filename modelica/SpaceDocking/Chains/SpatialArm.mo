within SpaceDocking.Chains;
model SpatialArm "Arm of seven joints that two springs eject from a spacecraft"
  extends Interfaces.PartialChain(
    n = 7,
    axis = {{0, 0, 1}, {0, 1, 0}, {0, 0, 1}, {0, 1, 0}, {0, 0, 1}, {0, 1, 0}, {0, 0, 1}},
    offset = {
      {0, 0, 0.12},
      {0, 0.1, 0.1},
      {0, 0, 0.55},
      {0, -0.12, 0.35},
      {0, 0, 0.55},
      {0, 0.1, 0.35},
      {0, 0, 0.12}},
    planar = false,
    m = {14.3, 8.6, 15.2, 12.4, 16.8, 12.4, 15.6, 20.8},
    center = {
      {0, 0, 0.05},
      {0, 0.04, 0.05},
      {0, 0, 0.25},
      {0, -0.05, 0.15},
      {0, 0, 0.25},
      {0, 0.04, 0.15},
      {0, 0, 0.05},
      {0, 0, 0.2}},
    J = {
      {{0.06864, 0, 0}, {0, 0.06864, 0}, {0, 0, 0.10296}},
      {{0.027735, 0, 0}, {0, 0.027735, 0}, {0, 0, 0.03483}},
      {{0.48678, 0, 0}, {0, 0.48678, 0}, {0, 0, 0.06156}},
      {{0.185173333333333, 0, 0}, {0, 0.185173333333333, 0}, {0, 0, 0.03968}},
      {{0.53802, 0, 0}, {0, 0.53802, 0}, {0, 0, 0.06804}},
      {{0.185173333333333, 0, 0}, {0, 0.185173333333333, 0}, {0, 0, 0.03968}},
      {{0.06487, 0, 0}, {0, 0.06487, 0}, {0, 0, 0.06318}},
      {{0.403, 0, 0}, {0, 0.403, 0}, {0, 0, 0.104}}},
    static = fill(4, 7),
    coulomb = fill(2, 7),
    viscous = fill(5.4, 7),
    tip = {0, 0, 0.45},
    link_radius = {0.09, 0.09, 0.08, 0.09, 0.08, 0.09, 0.1},
    body = {1.2, 1.2, 1.2},
    guided = true,
    stiffness = {812.7, 812.7},
    compression = 0.086);
  annotation (Documentation(info = "<html>
<p>Joints 1, 3, 5 and 7 turn about z, joints 2, 4 and 6 about y. Friction, springs and the total mass of
116.1 kg are those of Cai et al., Robotica (2023), whose tables of masses and lengths are missing: links
are assumed to be solid rods along z.</p>
</html>"));
end SpatialArm;
