within SpaceDocking.Robots;
model StewartPlatform "Stewart platform that forces in its legs move"
  extends Interfaces.PartialStewart;
  input Units.Force leg_force[6] "Forces of the actuators along the legs, positive when they lengthen";
equation
  drive = leg_force;
  m_drive = 0;
  annotation (Documentation(info = "<html>
<p>The mechanism alone. Without forces in the legs it falls; nothing stops it at the ends of the
travel.</p>
</html>"));
end StewartPlatform;
