within SpaceDocking.Contact;
model SpringDashpot "Stiff, damped contact of probe and base"
  extends Compliance(k = 3000, d = 40);
  annotation (Documentation(info = "<html>
<p>The same law as <a href=\"modelica://SpaceDocking.Contact.Compliance\">Compliance</a> with the
parameters of a stiff, damped docking interface.</p>
</html>"));
end SpringDashpot;
