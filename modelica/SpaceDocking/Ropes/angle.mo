within SpaceDocking.Ropes;
function angle "Angle from one unit vector to another, below 17 degrees to 3e-9 rad"
  input Real ax(unit = "1") "First vector, along x";
  input Real ay(unit = "1") "First vector, along y";
  input Real bx(unit = "1") "Second vector, along x";
  input Real by(unit = "1") "Second vector, along y";
  output Units.Angle beta "Angle, to the left";
protected
  Real s(unit = "1") "Sine of the angle";
  Real q(unit = "1") "Its square";
algorithm
  s := ax*by - ay*bx;
  q := s*s;
  beta := s*(1 + q*(0.16666666666666666 + q*(0.075 + q*(0.044642857142857144
    + q*(0.030381944444444444 + q*0.022372159090909092)))));
  annotation (Documentation(info = "<html>
<p>The series of the arc sine to the eleventh order: it needs neither a division nor a table, which
is what the time of a rope goes into. At 29 degrees it is right to 1e-6 rad; beyond 30 degrees it
must not be used.</p>
</html>"));
end angle;
