within SpaceDocking.Docking;
model AxialDocking "Docking on one axis, with the force of a contact that is elsewhere"
  extends Interfaces.PartialAxialDocking;
  input Units.Force force "Force of the contact on the end-effector; the opposite on the spacecraft";
equation
  contact = force;
  annotation (Documentation(info = "<html>
<p>What a rig computes: it moves its robot by <code>position</code> and measures <code>force</code>.</p>
</html>"));
end AxialDocking;
