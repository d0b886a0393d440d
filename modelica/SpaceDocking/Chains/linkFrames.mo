within SpaceDocking.Chains;
function linkFrames "Positions and attitudes of base and links"
  input Real axis[:, 3] "Axes of the joints, unit vectors";
  input Real offset[size(axis, 1), 3] "Origins of the frames, each in the frame before it, m";
  input Real phi[size(axis, 1)] "Joint angles, rad";
  input Real r[3] "Position of the base, m";
  input Real q[4] "Unit quaternion of the base, scalar first";
  output Real position[size(axis, 1) + 1, 3] "Origins of the frames, in the world frame, m";
  output Real attitude[size(axis, 1) + 1, 4] "Unit quaternions of the frames, scalar first";
protected
  Integer n = size(axis, 1) "Number of joints";
  Real a[4] "Quaternion of the frame before";
  Real c "Cosine of half the angle";
  Real s[3] "Sine of half the angle times the axis";
algorithm
  position[1, :] := r;
  attitude[1, :] := q;
  for i in 1:n loop
    a := attitude[i, :];
    c := cos(phi[i]/2);
    s := sin(phi[i]/2)*axis[i, :];
    position[i + 1, :] := position[i, :] + Rotations.matrix(a)*offset[i, :];
    attitude[i + 1, 1] := a[1]*c - a[2:4]*s;
    attitude[i + 1, 2:4] := a[1]*s + c*a[2:4] + cross(a[2:4], s);
  end for;
  annotation (Documentation(info = "<html>
<p>The quaternions have the norm of that of the base; positions do not depend on it.</p>
</html>"));
end linkFrames;
