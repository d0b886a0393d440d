within SpaceDocking.Contact;
model CaptureContact "Wire ropes around a captured rod: springs and dampers in three directions"
  parameter Units.Stiffness k[3] = {4e4, 3.6e4, 3.2e4} "Stiffness";
  parameter Units.Damping c[3] = {400, 240, 320} "Damping";
  parameter Units.Stiffness k_swing[3] = {0, 0, 0} "What the stiffness grows by, at most";
  parameter Units.Damping c_swing[3] = {0, 0, 0} "What the damping grows by, at most";
  parameter Units.Time period(min = 1e-6) = 4 "Period of the triangle";
  parameter Units.Hardening hardening[3] = {0, 0, 0} "Ropes get stiffer: force for each cubic metre";
  parameter Units.Position rest[3] = {0, 0, 0}
    "Where the contact is at rest, from the origin of the torque";
  input Units.Position position[3] "Captured point from where the contact is at rest";
  input Units.Velocity velocity[3] "Rate of the position";
  input Units.Position drag[3](each start = 0) "How far the rest has been moved from 'rest'";
  output Units.Force force[3] "Force on the part that holds the ropes";
  output Units.Torque torque[3] "Torque of the force about the origin";
  output Units.Stiffness k_now[3] "Stiffness at this time and for small motions about this place";
  output Units.Damping c_now[3] "Damping at this time";
  output Units.Energy energy "Energy that the springs would give back at their present stiffness";
  output Units.Power dissipation "Power that the dampers take";
  output Units.Power exchange "Power given to what varies the stiffness";
protected
  Units.Stiffness k_linear[3] "Stiffness at this time and at rest";
  Real triangle(unit = "1") "Share of the swing, 0 to 1 and back in each period";
  Real slope(unit = "1/s") "Rate of the share";
  Boolean rising(start = true, fixed = true) "First half of the period";
  Units.Force kept[3](each start = 0, each fixed = true)
    "Force that the stiffness would have given in excess by growing under a stretched spring";
  Units.Force elastic[3] "Force of the springs without what hardens";
  Units.Position yielding[3] "What the springs would move back, let go at this stiffness";
  discrete Units.Time begin(start = 0, fixed = true) "Start of the present half period";
equation
  when sample(0.5*period, 0.5*period) then
    rising = not pre(rising);
    begin = time;
  end when;
  slope = if rising then 2/period else -2/period;
  triangle = if rising then 2*(time - begin)/period else 1 - 2*(time - begin)/period;
  for i in 1:3 loop
    k_linear[i] = k[i] + k_swing[i]*triangle;
    k_now[i] = k_linear[i] + 3*hardening[i]*position[i]^2;
    c_now[i] = c[i] + c_swing[i]*triangle;
    der(kept[i]) = k_swing[i]*slope*position[i];
    elastic[i] = k_linear[i]*position[i] - kept[i];
    yielding[i] = noEvent(if k_linear[i] > 0 then elastic[i]/k_linear[i] else 0);
    force[i] = elastic[i] + hardening[i]*position[i]^3 + c_now[i]*velocity[i];
  end for;
  torque = cross(rest + drag + position, force);
  energy = 0.5*(elastic*yielding) + 0.25*(hardening[1]*position[1]^4 + hardening[2]*position[2]^4
    + hardening[3]*position[3]^4);
  dissipation = c_now[1]*velocity[1]^2 + c_now[2]*velocity[2]^2 + c_now[3]*velocity[3]^2;
  exchange = 0.5*slope*(k_swing[1]*yielding[1]^2 + k_swing[2]*yielding[2]^2
    + k_swing[3]*yielding[3]^2);
  annotation (Documentation(info = "<html>
<p>Eq 22 of Yu et al., IEEE Access (2018): <code>F = integral of K v dt + C v</code> in three
perpendicular directions, here integrated by parts,
<code>F = K x - integral of der(K) x dt + C v</code>. So a constant stiffness is a spring of the present
position without any integration, and a stiffness that varies changes the force only by motion.</p>
<p>Stiffness and damping are Table 2 of that paper. <code>k_swing</code> and <code>c_swing</code> add
a triangle that starts at 0, is 1 after half a period and never negative; the paper has one with a
period of 4 s and swings as large as <code>k</code> and <code>c</code>.</p>
<p><code>hardening</code> adds a force that grows with the cube of the position, as that of ropes that
are drawn tight; the paper sees its ropes get stiffer and gives no number.</p>
<p>What is stored is what a spring with the present stiffness gives back when it is let go,
<code>F^2/(2*K)</code> of the linear elastic force, and what the hardening holds. By this law the power <code>F*v</code> is its rate and
<code>der(K)*F^2/(2*K^2)</code>: energy that leaves while the stiffness grows and comes while it falls,
from whatever varies it.</p>
<p><code>position</code> and <code>velocity</code> are relative to where the contact is at rest, also while
that is dragged; <code>drag</code> moves the torque's arm only.</p>
</html>"));
end CaptureContact;
