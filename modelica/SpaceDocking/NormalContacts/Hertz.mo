within SpaceDocking.NormalContacts;
model Hertz "Elastic contact: nothing is lost"
  extends Interfaces.PartialHertzian(damping_number = 0);
  annotation (Documentation(info = "<html>
<p>Hertz (1882). The restitution is 1, whatever is wanted.</p>
</html>"));
end Hertz;
