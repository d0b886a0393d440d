within SpaceDocking.Interfaces;
partial model PartialHertzian "Hertz's force with damping in proportion to it"
  extends PartialNormalContact;
  parameter Real n(unit = "1", min = 0) = 1.5 "Exponent; 3/2 for rounded bodies";
protected
  parameter Real damping_number(unit = "1") "Damping at the speed of first touch, by elastic force";
equation
  spring = k*depth^n;
  energy = spring*depth/(n + 1);
  push = noEvent(max(0,
    spring*(1 + (if approach_speed > 0 then damping_number*rate/approach_speed else 0))));
  annotation (Documentation(info = "<html>
<p><code>F = k delta^n (1 + D delta'/v0)</code> with the speed <code>v0</code> at first touch.
Extending classes give the damping number <code>D</code> for a wanted restitution. It decides alone
what the contact gives back: <code>D (u - 1) = ln((1 + D u)/(1 + D))</code> for
<code>u = -c</code>.</p>
</html>"));
end PartialHertzian;
