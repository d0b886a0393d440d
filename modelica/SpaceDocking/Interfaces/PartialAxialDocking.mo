within SpaceDocking.Interfaces;
partial model PartialAxialDocking "Station, manipulator, end-effector and spacecraft on one axis"
  parameter Units.Mass m_c(min = 1e-9) = 2000 "Mass of the spacecraft";
  parameter Units.Mass m_e(min = 1e-9) = 300 "Mass of the end-effector, the manipulator's included";
  parameter Units.Mass m_s(min = 1e-9) = 50000 "Mass of the station";
  parameter Units.Stiffness k_manipulator = 1.5e5 "Stiffness of the manipulator";
  parameter Units.Damping c_manipulator = 200 "Damping of the manipulator";
  parameter Units.Position offset = 0.01 "Spacecraft from where the contact is at rest, at the start";
  output Units.Position position "Spacecraft from the end-effector, 0 where the contact is at rest";
  output Units.Velocity velocity "Velocity of the spacecraft seen from the end-effector";
  output Units.Force manipulator_force "Force of the manipulator on the station";
  output Units.Energy energy "Kinetic energy and energy of the manipulator's spring";
  output Units.Power dissipation "Power that the manipulator's damper takes";
  output Units.Momentum momentum "Sum of the momenta";
  output Units.Position x_s(start = 0, fixed = true) "Displacement of the station";
  Units.Velocity v_s(start = 0, fixed = true) "Velocity of the station";
  output Units.Position x_e(start = 0, fixed = true) "Displacement of the end-effector";
  Units.Velocity v_e(start = 0, fixed = true) "Velocity of the end-effector";
  output Units.Position x_c(start = offset, fixed = true) "Displacement of the spacecraft";
  Units.Velocity v_c(start = 0, fixed = true) "Velocity of the spacecraft";
protected
  Units.Force contact "Force of the contact on the end-effector";
equation
  der(x_s) = v_s;
  der(x_e) = v_e;
  der(x_c) = v_c;
  manipulator_force = k_manipulator*(x_e - x_s) + c_manipulator*(v_e - v_s);
  m_s*der(v_s) = manipulator_force;
  m_e*der(v_e) = contact - manipulator_force;
  m_c*der(v_c) = -contact;
  position = x_c - x_e;
  velocity = v_c - v_e;
  energy = 0.5*(m_s*v_s^2 + m_e*v_e^2 + m_c*v_c^2 + k_manipulator*(x_e - x_s)^2);
  dissipation = c_manipulator*(v_e - v_s)^2;
  momentum = m_s*v_s + m_e*v_e + m_c*v_c;
  annotation (Documentation(info = "<html>
<p>Eq 1 and 13 of Yu et al., IEEE Access (2018), along one axis: three free masses, with the spring and
damper of a locked manipulator between station and end-effector. Extending classes say what
<code>contact</code> is. The defaults are Table 1 of that paper.</p>
</html>"));
end PartialAxialDocking;
