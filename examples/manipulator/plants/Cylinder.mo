model Cylinder "a cylinder, and the valve between pump and tank that drives it"
  parameter Integer manoeuvre(min=1, max=2) = 1 "1: two steps of the valve, 2: a sine";
  parameter Real held(unit="N") = 8829 "Force at the start, at rest";
  parameter Real s0(unit="m") = 0.5 "Length at the start";
  parameter Real area(unit="m2") = 0.0065 "Of the piston";
  parameter Real stroke(unit="m") = 0.442 "Length of both chambers";
  parameter Real friction(unit="N.s/m") = 1e5 "Of the piston";
  parameter Real discharge(unit="1") = 0.67 "Of the valve";
  parameter Real opening(unit="m2") = 5e-4 "Of the valve";
  parameter Real density(unit="kg/m3") = 850 "Of the oil";
  parameter Real pump(unit="Pa") = 7.6e6 "Pressure";
  parameter Real tank(unit="Pa") = 1e5 "Pressure";
  parameter Real a(unit="1/Pa") = 6.53e-10 "Compressibility of the oil";
  parameter Real b(unit="1/Pa2") = -1.19e-18 "Compressibility of the oil";
  input Real s(unit="m", start=0.5) "Length";
  input Real rate(unit="m/s", start=0) "How fast it grows";
  output Real p1(unit="Pa", start=(pump + tank - held/area)/2, fixed=true) "Pressure";
  output Real p2(unit="Pa", start=(pump + tank + held/area)/2, fixed=true) "Pressure";
  output Real force(unit="N") "What it pushes with";
  output Real valve(unit="1") "Opening to the pump on the first side, a share";
protected
  parameter Real side(unit="Pa") = (pump + tank - held/area)/2;
  parameter Real valve0(unit="1") = 1/(1 + sqrt((pump - side)/(side - tank))) "At rest";
  constant Real pi = 3.14159265358979323846;
  Real share;
  Real k1;
  Real k2;
  Real unit_flow;
equation
  share = noEvent(if time <= 1 then 0.1*time elseif time <= 8 then 0.1 elseif time <= 9 then 0.1*(9 - time) else 0);
  valve = noEvent(if manoeuvre == 2 then valve0*(1 - share*sin(4*pi*time))
    else valve0 - 0.01*min(1, max(0, (time - 2)/0.001)) + 0.03*min(1, max(0, (time - 6)/0.002)));
  k1 = (1 + a*p1 + b*p1^2)/(a + 2*b*p1)/(area*(stroke/2 + s0 - s));
  k2 = (1 + a*p2 + b*p2^2)/(a + 2*b*p2)/(area*(stroke/2 + s - s0));
  unit_flow = opening*discharge*sqrt(2/density);
  der(p1) = k1*(area*rate + unit_flow*(valve*sqrt(noEvent(max(0, pump - p1))) - (1 - valve)*sqrt(noEvent(max(0, p1 - tank)))));
  der(p2) = k2*(-area*rate + unit_flow*((1 - valve)*sqrt(noEvent(max(0, pump - p2))) - valve*sqrt(noEvent(max(0, p2 - tank)))));
  force = (p2 - p1)*area - friction*rate;
end Cylinder;
