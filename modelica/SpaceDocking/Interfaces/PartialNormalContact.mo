within SpaceDocking.Interfaces;
partial model PartialNormalContact "Law of the force between two sides that push each other apart"
  parameter Units.Stiffness k = 3000 "Elastic force at a depth of 1 m, for each metre";
  parameter Real restitution(unit = "1", min = 0, max = 1) = 0.55
    "Wanted speed of leaving for each m/s of approach";
  input Units.Position position_a "Position of side a";
  input Units.Velocity velocity_a "Velocity of side a";
  input Units.Position position_b "Position of side b";
  input Units.Velocity velocity_b "Velocity of side b";
  output Units.Force force_a "Force on side a";
  output Units.Force force_b "Force on side b";
  output Units.Position compression "Compression: position_a - position_b";
  output Units.Energy energy "Energy of the spring";
  output Units.Power dissipation "Power that the damping takes";
  output Units.Impulse impulse(start = 0, fixed = true) "Impulse on side b so far";
protected
  Boolean touching "The compression is positive";
  Units.Velocity approach_speed(start = 0, fixed = true) "Rate of the compression at first touch";
  Units.Velocity rate "Rate of the compression";
  Units.Position depth "Compression while it is positive";
  Units.Force spring "Elastic force";
  Units.Force push "Force that the law says for this depth and rate";
equation
  compression = position_a - position_b;
  rate = velocity_a - velocity_b;
  touching = compression > 0;
  when {touching, initial()} then
    approach_speed = if compression > 0 then rate else 0;
  end when;
  depth = noEvent(if compression > 0 then compression else 0);
  force_b = if touching then push else 0;
  force_a = -force_b;
  dissipation = (force_b - spring)*rate;
  der(impulse) = force_b;
  assert(not touching or approach_speed > 0,
    "the sides were in contact without having approached each other: no speed at first touch, so"
    + " this contact is not damped; let them begin apart, or approaching", AssertionLevel.warning);
  annotation (Documentation(info = "<html>
<p><code>depth</code> is held at zero without an event: trial stages of a solver look beyond the end of
the contact, where a power of a negative depth is no number.</p>
<p>Ports, geometry and first touch of a contact law; the sign convention is that of
<a href=\"modelica://SpaceDocking.Interfaces.PartialContact\">PartialContact</a>. Extending classes
give <code>spring</code>, <code>energy</code> and <code>push</code>. The ports are those of the
Python blocks <code>hunt_crossley</code> and its like.</p>
</html>"));
end PartialNormalContact;
