within SpaceDocking.Interfaces;
partial model PartialRigidBody "Free rigid body with six degrees of freedom"
  parameter Units.Mass m = 100 "Mass";
  parameter Units.Inertia J[3, 3] = {{10, 0, 0}, {0, 15, 0}, {0, 0, 20}}
    "Inertia about the centre of mass, in the body frame";
  parameter Units.Position r0[3] = {0, 0, 0} "Position at the start";
  parameter Units.Velocity v0[3] = {0, 0, 0} "Velocity at the start";
  parameter Real q0[4](each unit = "1") = {1, 0, 0, 0} "Unit quaternion at the start, scalar first";
  parameter Units.AngularVelocity w0[3] = {0, 0, 0} "Angular velocity at the start, body frame";
  input Units.Force force[3] "Force at the centre of mass, in the world frame";
  input Units.Torque torque[3] "Torque, in the world frame";
  output Units.Position r[3](start = r0, each fixed = true) "Position of the centre of mass";
  output Units.Velocity v[3](start = v0, each fixed = true) "Velocity of the centre of mass";
  output Real q[4](start = q0, each fixed = true, each unit = "1")
    "Unit quaternion that turns the body frame into the world frame, scalar first";
  output Units.AngularVelocity w[3](start = w0, each fixed = true)
    "Angular velocity in the body frame";
  output Units.Energy energy "Kinetic energy";
  output Units.AngularMomentum momentum[3]
    "Angular momentum about the centre of mass, in the world frame";
protected
  Real R[3, 3](each unit = "1") "Rotation from the body frame to the world frame";
  Units.Force total_force[3] "Sum of all forces, in the world frame";
  Units.Torque total_torque[3] "Sum of all torques about the centre of mass, in the body frame";
equation
  R = Rotations.matrix(q);
  der(r) = v;
  m*der(v) = total_force;
  der(q[1]) = -0.5*(q[2]*w[1] + q[3]*w[2] + q[4]*w[3]);
  der(q[2]) = 0.5*(q[1]*w[1] + q[3]*w[3] - q[4]*w[2]);
  der(q[3]) = 0.5*(q[1]*w[2] + q[4]*w[1] - q[2]*w[3]);
  der(q[4]) = 0.5*(q[1]*w[3] + q[2]*w[2] - q[3]*w[1]);
  J*der(w) + cross(w, J*w) = total_torque;
  energy = 0.5*m*(v*v) + 0.5*(w*(J*w));
  momentum = R*(J*w);
  annotation (Documentation(info = "<html>
<p>Balances of momentum in the world frame and of angular momentum in the body frame,
<code>J*der(w) + cross(w, J*w) = total_torque</code>. Extending classes say what acts: they give
<code>total_force</code> and <code>total_torque</code>.</p>
<p>The attitude is a unit quaternion, so no attitude is singular. The rotation matrix is divided by
its square: an error of the norm, from integration or from a start value, does not scale vectors.</p>
</html>"));
end PartialRigidBody;
