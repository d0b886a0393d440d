within SpaceDocking.NormalContacts;
model KelvinVoigtAdhesive "Spring and damper in parallel that hold until the compression has gone"
  extends Interfaces.PartialNormalContact(restitution(min = 1e-6));
  parameter Units.Mass mass(min = 1e-12) = 1 "Reduced mass m1 m2/(m1 + m2)";
protected
  constant Real pi(unit = "1") = 3.14159265358979323846 "Circle constant";
  parameter Real zeta(unit = "1") = -log(restitution)/sqrt(pi^2 + log(restitution)^2)
    "Damping ratio";
  parameter Units.Damping d = 2*zeta*sqrt(k*mass) "Damping";
equation
  spring = k*depth;
  energy = 0.5*k*depth^2;
  push = spring + d*rate;
  annotation (Documentation(info = "<html>
<p>The damper pulls at the end of the contact; <code>c = exp(-pi zeta/sqrt(1 - zeta^2))</code>.</p>
</html>"));
end KelvinVoigtAdhesive;
