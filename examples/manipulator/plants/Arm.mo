model Arm "two rods in a plane under gravity, the first held by a cylinder"
  parameter Real length(unit="m") = 1 "Of the first rod";
  parameter Real second(unit="m") = 0.5 "Length of the second rod, which has no mass";
  parameter Real m(unit="kg") = 200 "Mass of the first rod";
  parameter Real m_p(unit="kg") = 250 "Mass at the end of the first rod";
  parameter Real m_h(unit="kg") = 100 "Mass at the end of the second rod";
  parameter Real g(unit="m/s2") = 9.81 "Gravity";
  input Real force(unit="N", start=8829) "Of the cylinder, which it pushes apart";
  output Real s(unit="m") "Length of the cylinder";
  output Real rate(unit="m/s") "How fast it grows";
protected
  constant Real pi = 3.14159265358979323846;
  Real a1(unit="rad", start=pi/6, fixed=true) "Angle of the first rod from the x axis";
  Real a2(unit="rad", start=-pi/2, fixed=true) "Angle of the second rod";
  Real w1(unit="rad/s", start=0, fixed=true);
  Real w2(unit="rad/s", start=0, fixed=true);
  Real m11;
  Real m12;
  Real m22;
  Real f1;
  Real f2;
  Real arm(unit="m") "Of the cylinder";
equation
  s = length*sqrt(1 - sqrt(3)/2*cos(a1));
  arm = sqrt(3)*length^2/4*sin(a1)/s;
  rate = arm*w1;
  m11 = length^2*(m/3 + m_p + m_h);
  m12 = length*second*m_h*cos(a1 - a2);
  m22 = second^2*m_h;
  f1 = arm*force - length*g*(m/2 + m_p + m_h)*cos(a1) - length*second*m_h*sin(a1 - a2)*w2^2;
  f2 = -second*g*m_h*cos(a2) + length*second*m_h*sin(a1 - a2)*w1^2;
  der(a1) = w1;
  der(a2) = w2;
  der(w1) = (m22*f1 - m12*f2)/(m11*m22 - m12^2);
  der(w2) = (m11*f2 - m12*f1)/(m11*m22 - m12^2);
end Arm;
