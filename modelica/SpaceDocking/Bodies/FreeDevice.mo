within SpaceDocking.Bodies;
model FreeDevice "Capture device that floats and keeps its attitude"
  parameter Units.Mass m(min = 1e-6) = 200 "Mass";
  input Units.Force force_1a[3] "Force of rope 1 on the fixed ring";
  input Units.Force force_1b[3] "Force of rope 1 on the rotating ring";
  input Units.Force force_2a[3] "Force of rope 2 on the fixed ring";
  input Units.Force force_2b[3] "Force of rope 2 on the rotating ring";
  input Units.Force force_3a[3] "Force of rope 3 on the fixed ring";
  input Units.Force force_3b[3] "Force of rope 3 on the rotating ring";
  input Units.Force lock[3] "Force of the lock on the target";
  input Units.Position screw[3] "Way of the rings in the device";
  input Units.Velocity screw_rate[3] "Its rate";
  input Units.Position position[3] "Centre of mass of the target";
  input Units.Velocity velocity[3] "Its velocity";
  output Units.Position r[3](each start = 0, each fixed = true) "Way of the device";
  output Units.Velocity v[3](each start = 0, each fixed = true) "Its velocity";
  output Units.Position drag[3] "Way of the rings";
  output Units.Velocity drag_rate[3] "Its rate";
  output Units.Position seen[3] "Centre of mass of the target, from the device";
  output Units.Velocity seen_rate[3] "Its rate";
  output Units.Energy energy "Kinetic energy";
  output Units.Momentum momentum[3] "Momentum";
equation
  der(r) = v;
  m*der(v) = force_1a + force_1b + force_2a + force_2b + force_3a + force_3b - lock;
  drag = r + screw;
  drag_rate = v + screw_rate;
  seen = position - r;
  seen_rate = velocity - v;
  energy = 0.5*m*(v*v);
  momentum = m*v;
  annotation (Documentation(info = "<html>
<p>The rings of <a href=\"modelica://SpaceDocking.Ropes.SnareRope\">SnareRope</a> and the face of
<a href=\"modelica://SpaceDocking.Contact.FlushLock\">FlushLock</a> on a body that is free to move: ropes
stay in the world frame and get where the rings are, the lock sees the target from the device. What
keeps the attitude takes all torques. The mass is assumed.</p>
</html>"));
end FreeDevice;
