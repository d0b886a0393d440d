model PipeNetwork "two tanks and seven turbulent pipes between four junctions"
  parameter Real k = 2;
  parameter Real small = 0.01;
  output Real high(start=2, fixed=true);
  output Real low(start=0.5, fixed=true);
  Real p[4](start={1, 0.8, 0.6, 0.5}) "pressure of a junction";
  Real d[7] "pressure difference of a pipe";
  Real q[7] "flow";
equation
  d[1] = high - p[1];
  d[2] = p[1] - p[2];
  d[3] = p[1] - p[3];
  d[4] = p[2] - p[3];
  d[5] = p[2] - p[4];
  d[6] = p[3] - p[4];
  d[7] = p[4] - low;
  for i in 1:7 loop q[i] = k*d[i]/sqrt(sqrt(d[i]^2 + small^2)); end for;
  q[1] = q[2] + q[3];
  q[2] = q[4] + q[5];
  q[3] + q[4] = q[6];
  q[5] + q[6] = q[7];
  der(high) = -0.1*q[1];
  der(low) = 0.2*q[7];
end PipeNetwork;
