within SpaceDocking.Robots;
model ReducedLegs "Six position-controlled legs of a parallel robot, each of second order"
  parameter Units.Frequency bandwidth(min = 1e-6) = 15 "Undamped natural frequency";
  parameter Units.DampingRatio zeta = 0.7 "Damping ratio";
  parameter Units.Position length0[6] = fill(1.9730, 6) "Lengths at the start";
  input Units.Position length_command[6](start = length0) "Commanded lengths";
  output Units.Position length[6](start = length0, each fixed = true) "Lengths";
  output Units.Velocity velocity[6](each start = 0, each fixed = true) "Rates of the lengths";
protected
  constant Real pi(unit = "1") = 3.14159265358979323846 "Circle constant";
  final parameter Real omega(unit = "rad/s") = 2*pi*bandwidth "Undamped natural frequency";
equation
  der(length) = velocity;
  der(velocity) = omega^2*(length_command - length) - 2*zeta*omega*velocity;
  annotation (Documentation(info = "<html>
<p>The closed loop of the robot of Yu et al., IEEE Access (2018), seen from outside and the same in all
legs. The paper gives no bandwidth: 15 Hz and a damping ratio of 0.7 are assumed; they are inside the
range within which its uncompensated runs diverge as it shows.</p>
<p>The lengths at the start must be those of the pose at the start, and so must the commands.</p>
</html>"));
end ReducedLegs;
