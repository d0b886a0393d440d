within SpaceDocking.Bodies;
model RigidBody "Free rigid body with six degrees of freedom"
  extends Interfaces.PartialRigidBody;
  input Units.Force force_body[3] "Force at the centre of mass, in the body frame";
  input Units.Torque torque_body[3] "Torque, in the body frame";
equation
  total_force = force + R*force_body;
  total_torque = transpose(R)*torque + torque_body;
  annotation (Documentation(info = "<html>
<p>Forces and torques may be given in the world frame and in the body frame; they add up.</p>
</html>"));
end RigidBody;
