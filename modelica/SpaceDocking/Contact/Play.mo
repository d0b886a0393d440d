within SpaceDocking.Contact;
model Play "Spring behind a play, such as a latch with clearance"
  parameter Units.Stiffness k = 1000 "Stiffness beyond the play";
  parameter Units.Position play(min=0) = 1e-3 "Way to either side without a force";
  input Units.Position position(start=0) "How far it is moved from the middle";
  output Units.Force force "What holds against it";
  output Units.Energy energy "Energy of the spring";
protected
  Units.Position bent "Of the spring";
equation
  bent = noEvent(if position > play then position - play elseif position < -play then position + play else 0);
  force = -k*bent;
  energy = 0.5*k*bent^2;
  annotation (Documentation(info = "<html>
<p>A dead zone of the position, and a linear spring behind it, both ways.</p>
</html>"));
end Play;
