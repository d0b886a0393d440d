within SpaceDocking.NormalContacts;
model HuntCrossley "Damping number 3 (1 - c)/2"
  extends Interfaces.PartialHertzian(damping_number = 1.5*(1 - restitution));
  annotation (Documentation(info = "<html>
<p>Hunt and Crossley, J. Appl. Mech. 42 (1975).</p>
</html>"));
end HuntCrossley;
