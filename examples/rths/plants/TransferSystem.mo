model TransferSystem "servo-hydraulic actuator with the specimen: the control plant of the benchmark"
  parameter Real gain(unit="1") = 1.0261 "Of the displacement at rest";
  parameter Real a1_beta0(unit="kg/s5") = 2.1283e13 "Servo valve and oil";
  parameter Real a2(unit="N/m") = 4.2297e6 "Natural velocity feedback";
  parameter Real a3(unit="1/s") = 3.3 "Pole of the actuator";
  parameter Real beta1(unit="1/s") = 425 "Servo valve";
  parameter Real beta2(unit="1/s2") = 9.9976e4 "Servo valve";
  parameter Real m_e(unit="kg", min=0) = 29.13 "Mass in the laboratory";
  parameter Real k_e(unit="N/m", min=0) = 1190e3 "Stiffness in the laboratory";
  parameter Real zeta_e(unit="1", min=0) = 0.0097 "Damping ratio in the laboratory";
  input Real command(unit="m", start=0) "Where it shall go";
  output Real position(unit="m") "Where it is";
  output Real velocity(unit="m/s") "How fast";
  output Real acceleration(unit="m/s2") "How that changes";
protected
  Real oil(unit="N/s", start=0, fixed=true) "Of the servo valve";
  Real oil_rate(unit="N/s2", start=0, fixed=true);
  Real push(unit="N", start=0, fixed=true) "Force of the actuator";
  Real x(unit="m", start=0, fixed=true);
  Real v(unit="m/s", start=0, fixed=true);
  Real a(unit="m/s2");
equation
  der(oil) = oil_rate;
  der(oil_rate) = a1_beta0*(command - x) - beta1*oil_rate - beta2*oil;
  der(push) = oil - a2*v - a3*push;
  der(x) = v;
  a = (push - 2*zeta_e*sqrt(m_e*k_e)*v - k_e*x)/m_e;
  der(v) = a;
  position = gain*x;
  velocity = gain*v;
  acceleration = gain*a;
end TransferSystem;
