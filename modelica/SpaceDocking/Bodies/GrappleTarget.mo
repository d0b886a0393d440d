within SpaceDocking.Bodies;
model GrappleTarget "Free spacecraft that three ropes and a lock act on"
  extends Interfaces.PartialRigidBody(
    m = 41.7,
    J = {{3.40766, -0.00353, 0.08852}, {-0.00353, 3.15477, -0.02253}, {0.08852, -0.02253, 1.61416}});
  input Units.Force force_1[3] "Force of a rope, world frame";
  input Units.Force force_2[3] "Force of a rope, world frame";
  input Units.Force force_3[3] "Force of a rope, world frame";
  input Units.Torque torque_1[3] "Torque of a rope about the centre of mass, world frame";
  input Units.Torque torque_2[3] "Torque of a rope about the centre of mass, world frame";
  input Units.Torque torque_3[3] "Torque of a rope about the centre of mass, world frame";
  output Units.Energy work(start = 0, fixed = true) "Work of ropes and lock on the body";
  output Units.Impulse impulse[3](each start = 0, each fixed = true)
    "What forces have given to the body, world frame";
equation
  total_force = force + force_1 + force_2 + force_3;
  total_torque = transpose(R)*(torque + torque_1 + torque_2 + torque_3);
  der(work) = total_force*v + total_torque*w;
  der(impulse) = total_force;
  annotation (Documentation(info = "<html>
<p>Mass and inertia are those of the star target, Table 4 of Cai, Chen, Luo and Wang, Aerospace 8, 381
(2021). Its products of inertia are read as <code>I_xy</code> = integral of x y dm, so they enter the
matrix with the opposite sign, and all as about the centre of mass: the paper says neither.
<code>force</code> and <code>torque</code> are those of the lock.</p>
</html>"));
end GrappleTarget;
