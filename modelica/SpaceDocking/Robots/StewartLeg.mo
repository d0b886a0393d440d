within SpaceDocking.Robots;
model StewartLeg "Leg of a Stewart platform: motor and ball screw in cascaded servo loops"
  parameter Units.Frequency position_bandwidth(min = 1e-6) = 15
    "Gain of the position loop, as a frequency";
  parameter Units.Frequency velocity_bandwidth(min = 1e-6) = 80
    "Gain of the velocity loop on the inertia, as a frequency";
  parameter Units.Frequency velocity_corner = 10 "Corner of the integral part of the velocity loop";
  parameter Units.Inductance L(min = 1e-9) = 4e-3 "Inductance of the motor";
  parameter Units.Resistance R = 1 "Resistance of the motor";
  parameter Units.BackEmf Ke = 0.5 "Back-EMF coefficient";
  parameter Units.TorqueConstant KT(min = 1e-9) = 0.5 "Torque coefficient";
  parameter Units.Inertia J(min = 1e-12) = 2e-3 "Inertia of motor and screw, on the motor's shaft";
  parameter Units.RotationalDamping B = 2e-3 "Viscous friction of motor and screw";
  parameter Units.CurrentFeedback beta(min = 0) = 20 "Current feedback";
  parameter Units.Position lead(min = 1e-9) = 0.01 "Travel of the screw in one turn";
  parameter Units.Mass m = 40 "Mass of the moving rod and its share of the load";
  parameter Units.Position length0 = 1.8 "Length at the start, at rest";
  input Units.Position length_command(start = length0) "Commanded length";
  input Units.Force load "Axial force of the platform on the leg, positive when it pulls";
  output Units.Position length(start = length0, fixed = true) "Length";
  output Units.Velocity velocity(start = 0, fixed = true) "Rate of the length";
  output Units.Current current(start = 0, fixed = true) "Current of the motor";
protected
  constant Real pi(unit = "1") = 3.14159265358979323846 "Circle constant";
  final parameter Real turn(unit = "rad/m") = 2*pi/lead "Angle of the screw for each metre";
  final parameter Units.Inertia J_all = J + m/turn^2 "Inertia on the shaft, the load's included";
  final parameter Real gain_p(unit = "1/s") = 2*pi*position_bandwidth "Gain of the position loop";
  final parameter Real gain_v(unit = "A.s/rad") = 2*pi*velocity_bandwidth*J_all/KT
    "Gain of the velocity loop";
  final parameter Real corner(unit = "1/s") = 2*pi*velocity_corner "Corner of the integral part";
  Units.AngularVelocity w "Rate of the shaft";
  Units.AngularVelocity w_command "Commanded rate of the shaft";
  Units.Angle integral(start = 0, fixed = true) "Integral of the velocity error";
  Units.Current current_command "Commanded current";
  Units.Voltage voltage "Voltage of the driver";
equation
  w = turn*velocity;
  w_command = turn*gain_p*(length_command - length);
  der(integral) = w_command - w;
  current_command = gain_v*(w_command - w + corner*integral);
  voltage = beta*(current_command - current);
  L*der(current) + R*current + Ke*w = voltage;
  J*turn*der(velocity) = KT*current - B*w - (m*der(velocity) - load)/turn;
  der(length) = velocity;
  annotation (Documentation(info = "<html>
<p>Control of one leg as in Fig. 6 of Yu et al., Force and Moment Compensation Method Based on
Three Degree-of-Freedom Stiffness-Damping Identification, IEEE Access (2018): P control of the length, PI control of the velocity, current
feedback, a motor with inductance and back-EMF, and an electric cylinder.</p>
<p>The paper gives the structure and the symbols <code>L, R, Ke, KT, J, B</code> and
<code>beta</code>, but <b>no numbers for any of them: all defaults here are assumed</b>. They are
those of a servo motor of about 1 kW on a screw of 10 mm lead; the gain of the position loop is the
15 Hz that the project assumes for the robot of that paper.</p>
<p>With a stiff screw, <code>w = 2*pi/lead*velocity</code>. Positive currents lengthen the leg, a
positive load pulls on it. The current loop is about
<code>(beta + R)/(2*pi*L)</code> = 840 Hz fast; nothing saturates.</p>
</html>"));
end StewartLeg;
