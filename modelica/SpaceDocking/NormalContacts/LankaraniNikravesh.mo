within SpaceDocking.NormalContacts;
model LankaraniNikravesh "Damping number 3 (1 - c^2)/4"
  extends Interfaces.PartialHertzian(damping_number = 0.75*(1 - restitution^2));
  annotation (Documentation(info = "<html>
<p>Lankarani and Nikravesh, J. Mech. Des. 112 (1990).</p>
</html>"));
end LankaraniNikravesh;
