model ControlPlant "two actuators that move one frame: the control plant of the benchmark"
  constant Real hz(unit="rad") = 6.283185307179586 "A turn";
  parameter Real gain_11(unit="1/s2") = 2165.2 "First axis by the first command";
  parameter Real gain_21(unit="1/s2") = 349.95 "Second axis by the first command";
  parameter Real gain_12(unit="1/s3") = 4.5394e6 "First axis by the second command";
  parameter Real gain_22(unit="1/s3") = 1.9238e7 "Second axis by the second command";
  parameter Real zero_1(unit="Hz") = 120 "Of the first command";
  parameter Real zero_2(unit="Hz") = 90 "Of the first command";
  parameter Real pole_1(unit="Hz") = 2.65 "Of the first command";
  parameter Real pole_2(unit="Hz") = 40 "Of the first command";
  parameter Real zero_12(unit="Hz") = 3 "Of the second command, at the first axis";
  parameter Real zero_22(unit="Hz") = 5 "Of the second command, at the second axis";
  parameter Real pole_3(unit="Hz") = 3.5 "Of the second command";
  parameter Real pole_4(unit="Hz") = 18.5 "Of the second command";
  parameter Real decay(unit="Hz") = 50 "Of the frame, by a turn";
  parameter Real frequency(unit="Hz") = 63 "Of the frame";
  input Real command_1(unit="m", start=0) "Where the first axis shall go";
  input Real command_2(unit="m", start=0) "Where the second axis shall go";
  output Real position_1(unit="m") "Where the first axis is";
  output Real position_2(unit="m") "Where the second axis is";
protected
  Real a(start=0, fixed=true) "First command, behind its first pole";
  Real b(start=0, fixed=true) "First command, behind its second pole";
  Real c(start=0, fixed=true) "First command, behind the frame";
  Real d(start=0, fixed=true);
  Real g(start=0, fixed=true) "Second command, behind its first pole";
  Real h(start=0, fixed=true) "Second command, behind its second pole";
  Real p(start=0, fixed=true) "Second command, behind the frame";
  Real r(start=0, fixed=true);
equation
  der(a) = command_1 - hz*pole_1*a;
  der(b) = command_1 + hz*(zero_1 - pole_1)*a - hz*pole_2*b;
  der(c) = d;
  der(d) = command_1 + hz*(zero_1 - pole_1)*a + hz*(zero_2 - pole_2)*b - 2*hz*decay*d
    - hz^2*(decay^2 + frequency^2)*c;
  der(g) = command_2 - hz*pole_3*g;
  der(h) = g - hz*pole_4*h;
  der(p) = r;
  der(r) = h - 2*hz*decay*r - hz^2*(decay^2 + frequency^2)*p;
  position_1 = gain_11*c + gain_12*(r + hz*zero_12*p);
  position_2 = gain_21*c + gain_22*(r + hz*zero_22*p);
end ControlPlant;
