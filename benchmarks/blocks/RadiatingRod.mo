model RadiatingRod "a heated body with a rod of n massless nodes that radiate and convect"
  parameter Integer n = 12;
  parameter Real conductance(unit="W/K") = 5;
  parameter Real convection(unit="W/K") = 0.1;
  parameter Real radiation(unit="W/K4") = 2.8e-9;
  parameter Real ambient(unit="K") = 300;
  output Real hot(unit="K", start=900, fixed=true);
  Real node[n](each unit="K", each start=300) "temperature";
  Real heat[n](each unit="W") "heat into a node";
  Real away[n](each unit="W") "heat radiated and convected";
  Real excess[n](each unit="K") "temperature above ambient";
equation
  heat[1] = conductance*(hot - node[1]);
  for k in 2:n loop heat[k] = conductance*(node[k - 1] - node[k]); end for;
  for k in 1:n loop
    excess[k] = node[k] - ambient;
    away[k] = radiation*(node[k]^4 - ambient^4) + convection*excess[k];
  end for;
  for k in 1:n - 1 loop heat[k] = away[k] + heat[k + 1]; end for;
  heat[n] = away[n];
  100*der(hot) = 200 - heat[1];
end RadiatingRod;
