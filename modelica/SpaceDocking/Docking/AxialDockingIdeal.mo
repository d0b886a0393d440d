within SpaceDocking.Docking;
model AxialDockingIdeal "Docking on one axis, with its contact"
  extends Interfaces.PartialAxialDocking;
  parameter Units.Stiffness k = 5e4 "Stiffness of the contact";
  parameter Units.Damping c = 100 "Damping of the contact";
  output Units.Force force "Force of the contact on the end-effector";
  output Units.Energy contact_energy "Energy of the contact's spring";
  output Units.Power contact_dissipation "Power that the contact's damper takes";
equation
  contact = force;
  force = k*position + c*velocity;
  contact_energy = 0.5*k*position^2;
  contact_dissipation = c*velocity^2;
  annotation (Documentation(info = "<html>
<p>The chain of three masses without any rig: the motion in space. Without damping it vibrates with two
frequencies, for Table 1 of Yu et al. with 0.700 and 4.136 Hz.</p>
</html>"));
end AxialDockingIdeal;
