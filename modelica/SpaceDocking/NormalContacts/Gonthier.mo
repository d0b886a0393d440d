within SpaceDocking.NormalContacts;
model Gonthier "Damping number (1 - c^2)/c"
  extends Interfaces.PartialHertzian(restitution(min = 1e-6), damping_number = (1 - restitution^2)/restitution);
  annotation (Documentation(info = "<html>
<p>Gonthier, McPhee, Lange and Piedboeuf, Multibody Syst. Dyn. 11 (2004).</p>
</html>"));
end Gonthier;
