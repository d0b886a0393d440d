within SpaceDocking.Rotations;
function matrix "Rotation matrix of a quaternion"
  input Real q[4] "Quaternion, scalar first, of any norm but zero";
  output Real R[3, 3] "Turns vectors of the body's frame into the outer frame";
algorithm
  R := [q[1]^2 + q[2]^2 - q[3]^2 - q[4]^2, 2*(q[2]*q[3] - q[1]*q[4]), 2*(q[2]*q[4] + q[1]*q[3]);
        2*(q[2]*q[3] + q[1]*q[4]), q[1]^2 - q[2]^2 + q[3]^2 - q[4]^2, 2*(q[3]*q[4] - q[1]*q[2]);
        2*(q[2]*q[4] - q[1]*q[3]), 2*(q[3]*q[4] + q[1]*q[2]), q[1]^2 - q[2]^2 - q[3]^2 + q[4]^2]
    /(q[1]^2 + q[2]^2 + q[3]^2 + q[4]^2);
  annotation (Documentation(info = "<html>
<p>The columns are the axes of the body in the outer frame.</p>
</html>"));
end matrix;
