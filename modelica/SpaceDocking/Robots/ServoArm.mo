within SpaceDocking.Robots;
model ServoArm "Planar arm of two links with rate servos, and friction that sticks"
  extends Interfaces.PartialTwoLinkArm(m1 = 41.7, m2 = 26.4, l1 = 0.89, l2 = 0.64, c1 = 0.445,
    c2 = 0.32, J1 = 2.78, J2 = 0.9, rotor = {157.26062, 157.26062}, g = 0, phi0 = {0, 0});
  parameter Real ratio(unit = "1", min = 1e-9) = 1570 "Turns of a motor for one of its joint";
  parameter Units.BackEmf Kp = 0.020 "Gain of the error of a motor's rate";
  parameter Units.IntegralGain Ki = 0.125 "Gain of its integral";
  parameter Units.Voltage voltage_limit(min = 0) = 20 "Largest voltage of an amplifier";
  parameter Units.Torque torque_limit(min = 0) = 0.144 "Largest torque of a motor";
  parameter Units.Resistance R(min = 1e-9) = 2.05 "Resistance of a motor";
  parameter Units.TorqueConstant KT(min = 1e-9) = 0.061
    "Torque coefficient, and back-EMF in V.s/rad";
  parameter Units.Torque coulomb[2](each min = 0) = {0, 0}
    "Coulomb friction of the motors, also while they stick";
  parameter Units.RotationalDamping viscous[2] = {0, 0} "Viscous friction of the motors";
  input Units.AngularVelocity rate_command[2](each start = 0) "Commanded rates of the joints";
  output Units.Torque torque[2] "Torques of the motors at the joints, without friction";
  output Units.Voltage voltage[2] "Voltages of the motors, within their limit";
  output Units.Torque friction[2] "Friction torques at the motors, against the motion";
  output Integer mode[2](each start = 0, each fixed = true) "1 forward, -1 backward, 0 sticking";
  output Units.Power dissipation "Power that friction and resistances turn into heat";
  output Units.Power supplied "Electrical power that the motors take";
protected
  constant Real small(unit = "1") = 1e-10 "Share of Coulomb friction that sets a joint in motion";
  Units.Angle integral[2](each start = 0, each fixed = true) "Integrals of the rate errors";
  Units.AngularVelocity error[2] "Commanded minus actual rates, at the motors";
  Units.Torque motor[2] "Torques of the motors";
  Units.Torque slip[2] "Friction torques at the motors that do not stick";
  Units.Torque net[2] "Torques at the joints that accelerate the arm";
  Units.Torque push[2] "Torques at the motors that friction must take to hold the joints";
  Units.AngularAcceleration a[2] "Accelerations of the joints";
  Boolean forward[2](each start = false, each fixed = true) "It breaks away forward";
  Boolean backward[2](each start = false, each fixed = true) "It breaks away backward";
  Boolean locked[2](each start = true, each fixed = true) "It sticks";
equation
  der(w) = a;
  for i in 1:2 loop
    error[i] = ratio*(rate_command[i] - w[i]);
    der(integral[i]) = error[i];
    voltage[i] = min(max(Kp*error[i] + Ki*integral[i], -voltage_limit), voltage_limit);
    motor[i] = min(max(KT*(voltage[i] - KT*ratio*w[i])/R, -torque_limit), torque_limit);
    torque[i] = ratio*motor[i];
    slip[i] = if locked[i] then 0
      elseif pre(mode[i]) == 1 or forward[i] then coulomb[i] + viscous[i]*ratio*w[i]
      else -coulomb[i] + viscous[i]*ratio*w[i];
    net[i] = torque[i] - ratio*slip[i] - h[i];
    push[i] = motor[i] - (h[i] + M[i, 3 - i]*a[3 - i])/ratio;
    friction[i] = if locked[i] then push[i] else slip[i];
    forward[i] = pre(mode[i]) == 0 and (push[i] > coulomb[i]*(1 + small)
      or pre(forward[i]) and push[i] > coulomb[i]);
    backward[i] = pre(mode[i]) == 0 and (push[i] < -coulomb[i]*(1 + small)
      or pre(backward[i]) and push[i] < -coulomb[i]);
    locked[i] = pre(mode[i]) == 0 and not (forward[i] or backward[i]);
    mode[i] = if (pre(mode[i]) == 1 or forward[i]) and w[i] > 0 then 1
      elseif (pre(mode[i]) == -1 or backward[i]) and w[i] < 0 then -1
      else 0;
  end for;
  a[1] = if locked[1] then 0 elseif locked[2] then net[1]/M[1, 1]
    else (M[2, 2]*net[1] - M[1, 2]*net[2])/(M[1, 1]*M[2, 2] - M[1, 2]^2);
  a[2] = if locked[2] then 0 elseif locked[1] then net[2]/M[2, 2]
    else (M[1, 1]*net[2] - M[1, 2]*net[1])/(M[1, 1]*M[2, 2] - M[1, 2]^2);
  when {locked[1], locked[2]} then
    reinit(w, {if locked[1] then 0 else w[1], if locked[2] then 0 else w[2]});
  end when;
  dissipation = ratio*friction*w + R*(motor[1]^2 + motor[2]^2)/KT^2;
  supplied = torque*w + R*(motor[1]^2 + motor[2]^2)/KT^2;
  annotation (Documentation(info = "<html>
<p>The two-link arm of the Motor Substitution Test with its rigid-gearbox servos in continuous time: masses,
lengths and inertias of Figure 1, about the centres of mass, which lie at mid-link; servos of Table 1.
The rotors' inertia <code>ratio^2*6.38e-5</code> = 157.26 kg.m2 is part of the mass matrix.</p>
<p>Friction is zero unless it is set, as in the paper's servo model; its bench has 0.0205 N.m and 2.58e-5
N.m.s/rad. It has the modes of <a href=\"modelica://SpaceDocking.Drives.DcMotor\">DcMotor</a>: a joint
breaks away where the torque that would hold it, given how the other one moves, exceeds Coulomb
friction.</p>
</html>"));
end ServoArm;
