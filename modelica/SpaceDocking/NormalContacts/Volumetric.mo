within SpaceDocking.NormalContacts;
model Volumetric "Sphere on a plane, pushed apart in proportion to the volume of their overlap"
  extends Interfaces.PartialNormalContact(restitution(min = 1e-6));
  parameter Units.Position radius(min = 1e-9) = 0.018 "Radius of the sphere";
protected
  parameter Real damping_number(unit = "1") = (1 - restitution^2)/restitution
    "Damping at the speed of first touch, by elastic force";
equation
  spring = k*depth^2*(1 - depth/(3*radius));
  energy = k*depth^3*(1/3 - depth/(12*radius));
  push = noEvent(max(0,
    spring*(1 + (if approach_speed > 0 then damping_number*rate/approach_speed else 0))));
  annotation (Documentation(info = "<html>
<p>The force of a foundation of <code>k/(pi*radius)</code> N/m3 on the cap of volume
<code>pi*depth^2*(radius - depth/3)</code>, with the damping of Gonthier and others (2004).</p>
</html>"));
end Volumetric;
