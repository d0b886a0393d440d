within SpaceDocking.Docking;
model ManipulatorDockingIdeal "Docking in six degrees of freedom, with its contact"
  extends Interfaces.PartialManipulatorDocking(
    s0 = {0.01, 0.01, 2.51});
  parameter Units.Position r_De[3] = {0, 0, 1}
    "Where the contact is at rest, in the end-effector's frame";
  parameter Units.Position r_Oc[3] = {0, 0, -1.5} "Captured point, in the spacecraft's frame";
  output Units.Force force[3] "Force of the contact on the end-effector, in its frame";
  output Units.Torque torque[3]
    "Torque of the contact about the end-effector's centre of mass, in its frame";
  output Units.Energy total_energy "Energy, the contact's springs included";
  output Units.Energy contact_energy "Energy of the contact's springs";
  output Units.Power contact_dissipation "Power that the contact's dampers take";
  output Units.Power contact_exchange "Power that the contact gives to what varies its stiffness";
  output Units.Power screw_power "Power that the contact gives to the screw";
  Contact.CaptureContact contact(rest = r_De) "Wire ropes around the captured rod";
  Contact.DragScrew screw "Screw that draws the rod in";
equation
  contact.drag = screw.drag;
  contact.position = s + R_c*r_Oc - r_De - screw.drag;
  contact.velocity = v + cross(w, R_c*r_Oc) - screw.drag_rate;
  contact_force = contact.force;
  contact_torque = contact.torque;
  force = contact.force;
  torque = contact.torque;
  total_energy = energy + contact.energy;
  contact_energy = contact.energy;
  contact_dissipation = contact.dissipation;
  contact_exchange = contact.exchange;
  screw_power = force*screw.drag_rate;
  annotation (Documentation(info = "<html>
<p>The motion in space: the contact acts at the captured point <code>O</code>, in the axes of the
end-effector, on both bodies. It begins 10 mm beside its rest in each direction.
<code>screw.speed</code> lets a screw drag that rest along; the screw spends
<code>-screw_power</code>.</p>
</html>"));
end ManipulatorDockingIdeal;
