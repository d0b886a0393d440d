model PressedArm "the arm with the piston's friction and area in it: it is given pressures"
  parameter Real area(unit="m2") = 0.0065 "Of the piston";
  parameter Real friction(unit="N.s/m") = 1e5 "Of the piston";
  input Real p1(unit="Pa", start=3170846.153846154) "Pressure";
  input Real p2(unit="Pa", start=4529153.846153846) "Pressure";
  output Real s(unit="m") "Length of the cylinder";
  output Real rate(unit="m/s") "How fast it grows";
protected
  Arm arm;
equation
  arm.force = (p2 - p1)*area - friction*arm.rate;
  s = arm.s;
  rate = arm.rate;
end PressedArm;
