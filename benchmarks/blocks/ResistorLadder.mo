model ResistorLadder "n sections of two resistors, a capacitor at the end"
  parameter Integer n = 50;
  parameter Real r(unit="Ohm") = 10;
  parameter Real shunt(unit="Ohm") = 100;
  parameter Real capacity(unit="F") = 1e-3;
  input Real u(unit="V", start=1);
  output Real x(unit="V", start=0, fixed=true);
  Real d[n](each unit="V") "voltage of a resistor along the ladder";
  Real e[n](each unit="V") "voltage of a resistor to ground";
  Real i[n + 1](each unit="A") "current into a section";
  Real j[n](each unit="A") "current to ground";
equation
  d[1] = u - e[1];
  for k in 2:n loop d[k] = e[k - 1] - e[k]; end for;
  for k in 1:n loop
    d[k] = r*i[k];
    e[k] = shunt*j[k];
    i[k] = j[k] + i[k + 1];
  end for;
  i[n + 1] = (e[n] - x)/50;
  capacity*der(x) = i[n + 1];
end ResistorLadder;
