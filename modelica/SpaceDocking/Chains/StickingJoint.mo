within SpaceDocking.Chains;
model StickingJoint "State of a revolute joint that sticks and slides"
  parameter Units.Angle phi0 = 0 "Angle at the start";
  parameter Units.AngularVelocity rate0 = 0 "Rate at the start";
  input Units.AngularAcceleration acceleration "Acceleration";
  input Integer next "Mode that friction and load ask for";
  output Units.Angle phi(start = phi0, fixed = true) "Angle";
  output Units.AngularVelocity rate(start = rate0, fixed = true) "Rate";
  output Integer mode "1 forward, -1 backward, 0 sticking";
equation
  der(phi) = rate;
  der(rate) = acceleration;
  mode = next;
  when mode == 0 then
    reinit(rate, 0);
  end when;
  annotation (Documentation(info = "<html>
<p>What a chain knows of one joint. A joint that sticks stands exactly still.</p>
</html>"));
end StickingJoint;
