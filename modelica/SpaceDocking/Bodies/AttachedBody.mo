within SpaceDocking.Bodies;
model AttachedBody "Free rigid body with a point where another part is attached"
  extends Interfaces.PartialRigidBody;
  parameter Units.Position point[3] = {0, 0, 0}
    "Attachment point, from the centre of mass, in the body frame";
  input Units.Force point_force[3] "Force at the attachment point, in the world frame";
  input Units.Torque point_torque[3] "Torque of the attached part, in the world frame";
  output Units.Position point_position[3] "Position of the attachment point, in the world frame";
  output Units.Velocity point_velocity[3] "Velocity of the attachment point, in the world frame";
equation
  total_force = force + point_force;
  total_torque = transpose(R)*(torque + point_torque)
    + cross(point, transpose(R)*point_force);
  point_position = r + R*point;
  point_velocity = v + R*cross(w, point);
  annotation (Documentation(info = "<html>
<p>What is attached acts with a force at its point and with a torque; both are given in the world frame.
A force at the point turns the body by <code>cross(point, force)</code>.</p>
</html>"));
end AttachedBody;
