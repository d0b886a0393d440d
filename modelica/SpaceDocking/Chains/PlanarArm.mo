within SpaceDocking.Chains;
model PlanarArm "Arm of three joints that two springs eject on a table that carries it on air"
  extends Interfaces.PartialChain(
    n = 3,
    axis = {{0, 1, 0}, {0, 1, 0}, {0, 1, 0}},
    offset = {{0, 0.1, 0.22}, {0, -0.12, 0.9}, {0, 0.1, 0.9}},
    planar = true,
    m = {22.9, 27.6, 29.2, 36.4},
    center = {
      {0, 0.015021834061135, 0.095065502183406},
      {0, -0.022463768115942, 0.452173913043478},
      {0, 0.016986301369863, 0.441095890410959},
      {0, 0, 0.204285714285714}},
    J = {
      {{0.182299890829694, 0, 0},
       {0, 0.173707401746725, -0.025777467248908},
       {0, -0.025777467248908, 0.146382489082969}},
      {{2.071895362318841, 0, 0},
       {0, 2.054822898550725, 0.153652173913044},
       {0, 0.153652173913044, 0.118312463768116}},
      {{2.17929305936073, 0, 0},
       {0, 2.167878264840183, -0.128416438356164},
       {0, -0.128416438356164, 0.119134794520548}},
      {{1.117721428571431, 0, 0}, {0, 1.117721428571431, 0}, {0, 0, 0.16718}}},
    static = fill(4, 3),
    coulomb = fill(2, 3),
    viscous = fill(5.4, 3),
    tip = {0, 0, 0.45},
    link_radius = {0.09, 0.09, 0.1},
    body = {1.2, 1.2, 1.2},
    guided = true,
    stiffness = {812.7, 812.7},
    compression = 0.086);
  annotation (Documentation(info = "<html>
<p>The arm of seven joints with joints 1, 3, 5 and 7 fixed at zero, and the links between joints 2, 4
and 6 put together: Eq 16 and 17 of Cai et al., Robotica (2023). Its joints are joints 2, 4 and 6 of that
arm. Once it has left the rail the base moves in its x-z plane.</p>
</html>"));
end PlanarArm;
