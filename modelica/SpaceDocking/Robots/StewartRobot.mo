within SpaceDocking.Robots;
model StewartRobot "Stewart platform on six legs with servo loops"
  extends Interfaces.PartialStewart;
  parameter Units.Frequency position_bandwidth(min = 1e-6) = 15
    "Gain of the position loops, as a frequency";
  parameter Units.Frequency velocity_bandwidth(min = 1e-6) = 80
    "Gain of the velocity loops on the inertia, as a frequency";
  parameter Units.Frequency velocity_corner = 10 "Corner of the integral part of the velocity loops";
  parameter Units.Inductance L(min = 1e-9) = 4e-3 "Inductance of a motor";
  parameter Units.Resistance Ra = 1 "Resistance of a motor";
  parameter Units.BackEmf Ke = 0.5 "Back-EMF coefficient";
  parameter Units.TorqueConstant KT(min = 1e-9) = 0.5 "Torque coefficient";
  parameter Units.Inertia J_motor(min = 1e-12) = 2e-3 "Inertia of motor and screw, on the shaft";
  parameter Units.RotationalDamping B = 2e-3 "Viscous friction of motor and screw";
  parameter Units.CurrentFeedback beta(min = 0) = 20 "Current feedback";
  parameter Units.Position lead(min = 1e-9) = 0.01 "Travel of the screw in one turn";
  parameter Units.Mass m_share = 40 "Mass that the velocity loop of a leg reckons with";
  parameter Units.Current current0[6] = fill(0, 6) "Currents at the start";
  input Units.Position length_command[6](each start = 1.9730) "Commanded lengths";
  output Units.Current current[6](start = current0, each fixed = true) "Currents of the motors";
protected
  final parameter Real screw(unit = "rad/m") = 2*pi/lead "Angle of the screw for each metre";
  final parameter Units.Inertia J_all = J_motor + m_share/screw^2 "Inertia the loop reckons with";
  final parameter Real gain_p(unit = "1/s") = 2*pi*position_bandwidth "Gain of the position loop";
  final parameter Real gain_v(unit = "A.s/rad") = 2*pi*velocity_bandwidth*J_all/KT
    "Gain of the velocity loop";
  final parameter Real corner(unit = "1/s") = 2*pi*velocity_corner "Corner of the integral part";
  Units.AngularVelocity error[6] "Commanded minus actual rates of the shafts";
  Units.Angle integral[6](start = current0/(gain_v*corner), each fixed = true)
    "Integrals of the velocity errors";
equation
  m_drive = J_motor*screw^2;
  for i in 1:6 loop
    error[i] = screw*(gain_p*(length_command[i] - length[i]) - velocity[i]);
    der(integral[i]) = error[i];
    L*der(current[i]) + Ra*current[i] + Ke*screw*velocity[i]
      = beta*(gain_v*(error[i] + corner*integral[i]) - current[i]);
    drive[i] = screw*(KT*current[i] - B*screw*velocity[i]);
  end for;
  annotation (Documentation(info = "<html>
<p>The platform with the drives of
<a href=\"modelica://SpaceDocking.Robots.StewartLeg\">StewartLeg</a>: P control of the length, PI control
of the velocity, current feedback, a motor with inductance and back-EMF, and a stiff screw. The motors'
inertias are part of the mass matrix. Fig. 6 of Yu et al., IEEE Access (2018), gives the
structure; all numbers are assumed.</p>
</html>"));
end StewartRobot;
