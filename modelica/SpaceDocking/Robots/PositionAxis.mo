within SpaceDocking.Robots;
model PositionAxis "Position-controlled axis of a robot, second order"
  parameter Units.Frequency bandwidth(min = 1e-6) = 15 "Undamped natural frequency";
  parameter Units.DampingRatio zeta = 0.7 "Damping ratio";
  parameter Units.Position x0 = 0 "Position at the start";
  input Units.Position position_command(start = 0) "Commanded position";
  output Units.Position position(start = x0, fixed = true) "Actual position";
  output Units.Velocity velocity(start = 0, fixed = true) "Actual velocity";
protected
  constant Real pi(unit = "1") = 3.14159265358979323846 "Circle constant";
  final parameter Real omega(unit = "rad/s") = 2*pi*bandwidth "Undamped natural frequency";
equation
  der(position) = velocity;
  der(velocity) = omega^2*(position_command - position) - 2*zeta*omega*velocity;
  annotation (Documentation(info = "<html>
<p>Closed loop of a position controller, seen from outside:</p>
<p><code>der(velocity) = omega^2*(position_command - position) - 2*zeta*omega*velocity</code> with
<code>omega = 2*pi*bandwidth</code>.</p>
<p>The axis starts at rest at <code>x0</code>. The pure delay of the controller and of its bus is not
part of this model: it belongs on the connection that carries the command, where the orchestrator can
realise it exactly and include it in its analysis.</p>
</html>"));
end PositionAxis;
