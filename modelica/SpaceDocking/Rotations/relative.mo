within SpaceDocking.Rotations;
function relative "Quaternion of one body seen from another"
  input Real a[4] "Quaternion of the body that is looked from";
  input Real b[4] "Quaternion of the body that is looked at";
  output Real q[4] "Turns vectors of b into the frame of a";
algorithm
  q[1] := a[1]*b[1] + a[2]*b[2] + a[3]*b[3] + a[4]*b[4];
  q[2] := a[1]*b[2] - a[2]*b[1] - a[3]*b[4] + a[4]*b[3];
  q[3] := a[1]*b[3] - a[3]*b[1] - a[4]*b[2] + a[2]*b[4];
  q[4] := a[1]*b[4] - a[4]*b[1] - a[2]*b[3] + a[3]*b[2];
  annotation (Documentation(info = "<html>
<p>The conjugate of <code>a</code> times <code>b</code>.</p>
</html>"));
end relative;
