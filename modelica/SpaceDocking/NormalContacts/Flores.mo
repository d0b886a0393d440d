within SpaceDocking.NormalContacts;
model Flores "Damping number 8 (1 - c)/(5 c)"
  extends Interfaces.PartialHertzian(restitution(min = 1e-6), damping_number = 1.6*(1 - restitution)/restitution);
  annotation (Documentation(info = "<html>
<p>Flores, Machado, Silva and Martins, Multibody Syst. Dyn. 25 (2011).</p>
</html>"));
end Flores;
