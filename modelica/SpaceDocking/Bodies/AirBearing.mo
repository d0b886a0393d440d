within SpaceDocking.Bodies;
model AirBearing "Body on an air table, with Coulomb friction that sticks"
  extends Interfaces.PartialFreeBody(m = 38.4);
  parameter Real mu(unit = "1", min = 0) = 0.00905 "Coefficient of friction, also while it sticks";
  parameter Units.Acceleration g(min = 0) = 10 "Gravity";
  input Units.Force thrust "Force of thrusters, or of a hand";
  output Units.Force friction "Friction on the body, against the motion";
  output Units.Power dissipation "Power that friction takes";
  Integer mode(start = if v0 > 0 then 1 elseif v0 < 0 then -1 else 0, fixed = true)
    "1 forward, -1 backward, 0 sticking";
protected
  constant Real small(unit = "1") = 1e-10 "Share of the friction that sets the body in motion";
  parameter Units.Force coulomb = mu*m*g "Friction while it slides";
  Units.Force drive "Force on the body without friction";
  Boolean start_forward(start = false, fixed = true) "It breaks away forward";
  Boolean start_backward(start = false, fixed = true) "It breaks away backward";
  Boolean locked(start = v0 == 0, fixed = true) "It sticks";
equation
  drive = force + virtual_force + thrust;
  m*der(velocity) = drive + friction;
  start_forward = pre(mode) == 0 and (drive > coulomb*(1 + small)
    or pre(start_forward) and drive > coulomb);
  start_backward = pre(mode) == 0 and (drive < -coulomb*(1 + small)
    or pre(start_backward) and drive < -coulomb);
  locked = pre(mode) == 0 and not (start_forward or start_backward);
  friction = if locked then -drive
    elseif pre(mode) == 1 or start_forward then -coulomb
    else coulomb;
  mode = if (pre(mode) == 1 or start_forward) and velocity > 0 then 1
    elseif (pre(mode) == -1 or start_backward) and velocity < 0 then -1
    else 0;
  when locked then
    reinit(velocity, 0);
  end when;
  dissipation = coulomb*abs(velocity);
  annotation (Documentation(info = "<html>
<p>A satellite simulator on air bearings: Cai, Chen, Luo and Wang, Aerospace 8, 381 (2021), section
4.1, measure <code>mu = 0.00905</code> as the mean of Table 2, and take <code>g = 10</code>. Friction
is exact: its modes are those of <a href=\"modelica://SpaceDocking.Drives.DcMotor\">DcMotor</a>, and a
body at rest stays exactly where it is until it is pushed by more than <code>mu*m*g</code>.</p>
</html>"));
end AirBearing;
