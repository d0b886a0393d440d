model TwoLags "two lags in series, at rest nowhere near 0"
  parameter Real lag(unit="s") = 2e-3;
  input Real command(unit="m", start=0);
  output Real position(unit="m", start=0, fixed=true);
protected
  Real between(unit="m", start=0, fixed=true);
equation
  lag*der(between) = command - between;
  lag*der(position) = between - position;
end TwoLags;
