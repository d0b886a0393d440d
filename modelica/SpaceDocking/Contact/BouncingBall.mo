within SpaceDocking.Contact;
model BouncingBall "Ball on a floor, with impacts of given restitution"
  parameter Real restitution(unit = "1", min = 0, max = 1) = 0.7
    "Speed after an impact for each m/s before it";
  parameter Units.Acceleration g(min = 1e-9) = 9.81 "Gravity, downward";
  parameter Units.Velocity v_rest(min = 0) = 1e-3 "An impact slower than this ends the bouncing";
  parameter Units.Position h0(min = 0) = 1 "Height at the start";
  parameter Units.Velocity v0 = 0 "Velocity at the start, upward";
  output Units.Position height(start = h0, fixed = true) "Height of the lowest point";
  output Units.Velocity velocity(start = v0, fixed = true) "Velocity, upward";
  output Boolean resting(start = false, fixed = true) "It lies on the floor for good";
equation
  der(height) = velocity;
  der(velocity) = if resting then 0 else -g;
  when height < 0 then
    resting = restitution*abs(pre(velocity)) < v_rest;
    reinit(velocity, if resting then 0 else -restitution*pre(velocity));
    reinit(height, 0);
  end when;
  annotation (Documentation(info = "<html>
<p>Newton's law of impact. The times between impacts form a geometric series: infinitely many impacts
lie in a finite time. The ball therefore comes to rest at the first impact that it would leave more
slowly than <code>v_rest</code>; height and velocity are then exactly zero.</p>
</html>"));
end BouncingBall;
