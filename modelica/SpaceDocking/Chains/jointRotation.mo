within SpaceDocking.Chains;
function jointRotation "Rotation matrix of a revolute joint"
  input Real axis[3] "Axis of the joint, a unit vector";
  input Real phi "Angle, rad";
  output Real R[3, 3] "Turns vectors of the frame after the joint into the frame before it";
protected
  Real c "Cosine of the angle";
  Real s "Sine of the angle";
algorithm
  c := cos(phi);
  s := sin(phi);
  for j in 1:3 loop
    for k in 1:3 loop
      R[j, k] := axis[j]*axis[k] + c*((if j == k then 1 else 0) - axis[j]*axis[k])
        + s*skew(axis)[j, k];
    end for;
  end for;
  annotation (Documentation(info = "<html>
<p>Rodrigues' formula, in a form that leaves <code>cos</code>, <code>sin</code>, 0 and 1 where the axis is one
of the frame.</p>
</html>"));
end jointRotation;
