within SpaceDocking.Rotations;
function vector "Rotation vector of a quaternion: axis times angle"
  input Real q[4] "Quaternion, scalar first, of any norm but zero";
  output Real phi[3] "Rotation vector, rad; its length is at most pi";
protected
  Real sine2 "Square of the sine of half the angle, times the norm";
  Real ratio "Square of the tangent of half the angle";
  Real scale "Rotation vector for each unit of the vector part";
algorithm
  sine2 := q[2]^2 + q[3]^2 + q[4]^2;
  ratio := sine2/max(q[1]^2, 1e-30);
  scale := noEvent(if ratio < 1e-6 then 2*(1 - ratio/3 + ratio^2/5)/q[1]
    else (if q[1] < 0 then -2 else 2)*atan2(sqrt(max(sine2, 1e-30)), abs(q[1]))
      /sqrt(max(sine2, 1e-30)));
  phi[1] := scale*q[2];
  phi[2] := scale*q[3];
  phi[3] := scale*q[4];
  annotation (Documentation(info = "<html>
<p>Near the identity it is a series, whose error is below 3e-19 at the switch. At half a turn the
vector changes its sign.</p>
</html>"));
end vector;
