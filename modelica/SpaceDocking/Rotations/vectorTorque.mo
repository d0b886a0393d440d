within SpaceDocking.Rotations;
function vectorTorque "Torque of a potential that depends on the rotation vector"
  input Real phi[3] "Rotation vector, rad";
  input Real slope[3] "Slope of the potential with respect to the rotation vector, N.m";
  output Real torque[3] "Torque that does the work of the slope, N.m, in the outer frame";
protected
  Real angle2 "Square of the angle";
  Real angle "Angle, kept away from zero";
  Real factor "Factor of the double cross product";
algorithm
  angle2 := phi[1]^2 + phi[2]^2 + phi[3]^2;
  angle := sqrt(max(angle2, 1e-4));
  factor := noEvent(if angle2 < 1e-4 then 1/12 + angle2/720
    else 1/angle2 - 1/(2*angle*tan(angle/2)));
  torque := slope + 0.5*cross(phi, slope) + factor*cross(phi, cross(phi, slope));
  annotation (Documentation(info = "<html>
<p>The rate of the rotation vector is <code>A(phi)*w</code> with the angular velocity <code>w</code> in
the outer frame. A torque <code>transpose(A)*slope</code> takes exactly the power at which the potential
grows, so the spring neither makes nor loses energy at any angle below a whole turn.</p>
</html>"));
end vectorTorque;
