within SpaceDocking.Contact;
model Compliance "Mechanical compliance between probe and base, such as a metal sheet"
  extends Interfaces.PartialContact;
  parameter Boolean latched = false "Probe and base hold together: the element pulls as well";
  output Units.Energy energy "Energy of the spring";
  output Units.Power dissipation "Power that the damper takes";
protected
  Units.Force spring "Force of the spring alone, on side b";
equation
  spring = noEvent(if latched or compression > 0 then k*compression else 0);
  energy = 0.5*spring*compression;
  dissipation = (force_b - spring)*rate;
  force_a = noEvent(
    if latched then -(k*compression + d*rate)
    elseif compression > 0 then -max(0, k*compression + d*rate)
    else 0);
  annotation (Documentation(info = "<html>
<p>Linear spring with a damper in parallel.</p>
<ul>
<li><code>latched = true</code>: linear in both directions, as with a metal sheet that is clamped on
both sides.</li>
<li><code>latched = false</code>: a force acts only while the compression is positive, and it never
pulls: <code>max(0, k*compression + d*rate)</code>.</li>
</ul>
<p>The force switches without an event (<code>noEvent</code>): the element has no states, so a
co-simulation evaluates it at its communication points.</p>
</html>"));
end Compliance;
