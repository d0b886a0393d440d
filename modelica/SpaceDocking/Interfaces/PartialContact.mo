within SpaceDocking.Interfaces;
partial model PartialContact "Massless contact element between two points of one axis"
  parameter Units.Stiffness k = 1000 "Stiffness";
  parameter Units.Damping d = 0 "Damping";
  input Units.Position position_a "Position of side a (probe)";
  input Units.Velocity velocity_a "Velocity of side a (probe)";
  input Units.Position position_b "Position of side b (base)";
  input Units.Velocity velocity_b "Velocity of side b (base)";
  output Units.Force force_a "Force on side a";
  output Units.Force force_b "Force on side b";
  output Units.Position compression "Compression: position_a - position_b";
protected
  Units.Velocity rate "Rate of compression";
equation
  compression = position_a - position_b;
  rate = velocity_a - velocity_b;
  force_b = -force_a;
  annotation (Documentation(info = "<html>
<p>Ports and geometry of a contact element. Side a approaches side b in the positive direction, so
the compression is positive in contact, and the force on a is then negative. Extending classes give
<code>force_a</code>.</p>
</html>"));
end PartialContact;
