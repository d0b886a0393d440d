model Frame "three floors that move sideways, without what stands in the laboratory"
  parameter Real m(unit="kg", min=0) = 1000 "Mass of each floor";
  parameter Real k11(unit="N/m") = 26054883.87960384 "Stiffness between floors";
  parameter Real k12(unit="N/m") = -23133938.8771082 "Stiffness between floors";
  parameter Real k13(unit="N/m") = 5937035.46333915 "Stiffness between floors";
  parameter Real k22(unit="N/m") = 32560774.18638033 "Stiffness between floors";
  parameter Real k23(unit="N/m") = -14419970.77723698 "Stiffness between floors";
  parameter Real k33(unit="N/m") = 9267275.50622431 "Stiffness between floors";
  parameter Real c11(unit="N.s/m") = 14084.2757453 "Damping between floors";
  parameter Real c12(unit="N.s/m") = -7873.03146091 "Damping between floors";
  parameter Real c13(unit="N.s/m") = 440.45149884 "Damping between floors";
  parameter Real c22(unit="N.s/m") = 14943.6229379 "Damping between floors";
  parameter Real c23(unit="N.s/m") = -6348.67209631 "Damping between floors";
  parameter Real c33(unit="N.s/m") = 7223.1013168 "Damping between floors";
  parameter Real m_e(unit="kg", min=0) = 29.13 "Mass in the laboratory";
  parameter Real k_e(unit="N/m", min=0) = 1190e3 "Stiffness in the laboratory";
  parameter Real zeta_e(unit="1", min=0) = 0.0097 "Damping ratio in the laboratory";
  parameter Real x0(unit="m") = 0 "Position of the first floor at the start";
  input Real ground(unit="m/s2", start=0) "Acceleration of the ground";
  input Real force(unit="N", start=0) "What the laboratory measures";
  output Real position(unit="m") "Of the first floor, from the ground";
  output Real velocity(unit="m/s") "Of the first floor, from the ground";
  output Real acceleration(unit="m/s2") "Of the first floor, from the ground";
  output Real second(unit="m") "Position of the second floor";
  output Real third(unit="m") "Position of the third floor";
  output Real energy(unit="J") "Of motion and springs, without the laboratory's";
  output Real dissipation(unit="W") "Power that the dampers take";
  output Real momentum(unit="kg.m/s") "Of all floors, the laboratory's part with them";
protected
  parameter Real c_e(unit="N.s/m") = 2*zeta_e*sqrt(m_e*k_e);
  Real x1(unit="m", start=x0, fixed=true);
  Real x2(unit="m", start=0, fixed=true);
  Real x3(unit="m", start=0, fixed=true);
  Real v1(unit="m/s", start=0, fixed=true);
  Real v2(unit="m/s", start=0, fixed=true);
  Real v3(unit="m/s", start=0, fixed=true);
equation
  der(x1) = v1;
  der(x2) = v2;
  der(x3) = v3;
  acceleration = -((c11 - c_e)*v1 + c12*v2 + c13*v3 + (k11 - k_e)*x1 + k12*x2 + k13*x3 + force
    + m*ground)/(m - m_e);
  der(v1) = acceleration;
  der(v2) = -(c12*v1 + c22*v2 + c23*v3 + k12*x1 + k22*x2 + k23*x3)/m - ground;
  der(v3) = -(c13*v1 + c23*v2 + c33*v3 + k13*x1 + k23*x2 + k33*x3)/m - ground;
  position = x1;
  velocity = v1;
  second = x2;
  third = x3;
  energy = (m*(v1^2 + v2^2 + v3^2) - m_e*v1^2 + k11*x1^2 + k22*x2^2 + k33*x3^2 - k_e*x1^2)/2
    + k12*x1*x2 + k13*x1*x3 + k23*x2*x3;
  dissipation = (c11 - c_e)*v1^2 + c22*v2^2 + c33*v3^2 + 2*(c12*v1*v2 + c13*v1*v3 + c23*v2*v3);
  momentum = m*(v1 + v2 + v3);
end Frame;
