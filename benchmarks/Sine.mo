model Sine "a sine of the time, without a unit"
  parameter Real omega(unit="rad/s") = 20;
  output Real y;
equation
  y = 0.01*sin(omega*time);
end Sine;
