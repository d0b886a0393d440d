within SpaceDocking.NormalContacts;
model KelvinVoigt "Spring and damper in parallel that never pull"
  extends Interfaces.PartialNormalContact(restitution(min = 0.1354));
  parameter Units.Mass mass(min = 1e-12) = 1 "Reduced mass m1 m2/(m1 + m2)";
protected
  Real theta(unit = "1", start = 1.2) "Arc cosine of the damping ratio";
  Units.Damping d "Damping";
equation
  theta*cos(theta) = -0.5*log(restitution)*sin(theta);
  d = 2*cos(theta)*sqrt(k*mass);
  spring = k*depth;
  energy = 0.5*k*depth^2;
  push = max(0, spring + d*rate);
  annotation (Documentation(info = "<html>
<p>Released where the force reaches zero, which leaves
<code>c = exp(-2 zeta acos(zeta)/sqrt(1 - zeta^2))</code>; solved for the damping ratio.</p>
</html>"));
end KelvinVoigt;
