within SpaceDocking.Docking;
model AxialDocking "Docking on one axis, with the force of a contact that is elsewhere"
  extends Interfaces.PartialAxialDocking;
  input Units.Force force "Force of the contact on the end-effector; the opposite on the spacecraft";
  input Units.Force virtual_force
    "Force of a virtual impedance on the spacecraft; the opposite on the end-effector";
equation
  contact = force - virtual_force;
  annotation (Documentation(info = "<html>
<p>What a rig computes: it moves its robot by <code>position</code> and measures <code>force</code>. A
virtual impedance is one that exists in software only, such as a damper against the rig's delay.</p>
</html>"));
end AxialDocking;
