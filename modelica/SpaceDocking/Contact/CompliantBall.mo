within SpaceDocking.Contact;
model CompliantBall "Ball on a floor that is a spring and a damper"
  parameter Units.Mass m(min = 1e-9) = 0.5 "Mass";
  parameter Units.Stiffness k = 2e4 "Stiffness of the floor";
  parameter Units.Damping d = 8 "Damping of the floor";
  parameter Units.Acceleration g = 9.81 "Gravity, downward";
  parameter Units.Position h0 = 0.5 "Height at the start";
  parameter Units.Velocity v0 = 0 "Velocity at the start, upward";
  output Units.Position height(start = h0, fixed = true) "Height; negative is pressed in";
  output Units.Velocity velocity(start = v0, fixed = true) "Velocity, upward";
  output Units.Force force "Force of the floor, upward";
  output Boolean touching "The ball touches the floor";
equation
  touching = height < 0;
  force = if touching then -k*height - d*velocity else 0;
  der(height) = velocity;
  m*der(velocity) = force - m*g;
  annotation (Documentation(info = "<html>
<p>The relation <code>height &lt; 0</code> switches the floor by an event. At the end of a contact the
damper pulls for a moment: the force is then at most <code>d</code> times the speed of leaving.</p>
</html>"));
end CompliantBall;
