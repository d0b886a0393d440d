within SpaceDocking.Docking;
model ManipulatorDocking "Docking in six degrees of freedom, with a contact that is elsewhere"
  extends Interfaces.PartialManipulatorDocking;
  input Units.Force force[3] "Force of the contact on the end-effector, in its frame";
  input Units.Torque torque[3]
    "Torque of the contact about the end-effector's centre of mass, in its frame";
equation
  contact_force = force;
  contact_torque = torque;
  annotation (Documentation(info = "<html>
<p>What a rig computes: it moves its robot by <code>s</code> and <code>q</code>, and its sensor, which is
fixed to the end-effector, measures <code>force</code> and <code>torque</code>.</p>
</html>"));
end ManipulatorDocking;
