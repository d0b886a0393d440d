within SpaceDocking.Interfaces;
partial model PartialTwoLinkArm "Planar arm of two rigid links"
  parameter Units.Mass m1 = 4 "Mass of the upper link";
  parameter Units.Mass m2 = 3 "Mass of the lower link";
  parameter Units.Position l1 = 0.5 "Length of the upper link";
  parameter Units.Position l2 = 0.4 "Length of the lower link";
  parameter Units.Position c1 = 0.25 "Centre of mass of the upper link from its joint";
  parameter Units.Position c2 = 0.2 "Centre of mass of the lower link from its joint";
  parameter Units.Inertia J1 = 0.09 "Inertia of the upper link about its centre of mass";
  parameter Units.Inertia J2 = 0.04 "Inertia of the lower link about its centre of mass";
  parameter Units.Inertia rotor[2](each min = 0) = {0, 0}
    "Inertias of the motors' rotors behind their gears, as the joints feel them: N^2*J";
  parameter Units.Acceleration g = 9.81 "Gravity, against the y axis";
  parameter Units.Angle phi0[2] = {-1.2, 0.5} "Joint angles at the start";
  parameter Units.AngularVelocity w0[2] = {0, 0} "Joint rates at the start";
  output Units.Angle phi[2](start = phi0, each fixed = true)
    "Joint angles: of the upper link from the x axis, of the lower link from the upper one";
  output Units.AngularVelocity w[2](start = w0, each fixed = true) "Joint rates";
  output Units.Position tool[2] "Position of the tool";
  output Units.Energy energy "Kinetic and potential energy";
protected
  Units.Inertia M[2, 2] "Mass matrix";
  Units.Torque h[2] "Centrifugal, Coriolis and gravity torques";
equation
  der(phi) = w;
  M[1, 1] = J1 + J2 + m1*c1^2 + m2*(l1^2 + c2^2 + 2*l1*c2*cos(phi[2])) + rotor[1];
  M[1, 2] = J2 + m2*(c2^2 + l1*c2*cos(phi[2]));
  M[2, 1] = M[1, 2];
  M[2, 2] = J2 + m2*c2^2 + rotor[2];
  h[1] = -m2*l1*c2*sin(phi[2])*(2*w[1]*w[2] + w[2]^2)
    + g*((m1*c1 + m2*l1)*cos(phi[1]) + m2*c2*cos(phi[1] + phi[2]));
  h[2] = m2*l1*c2*sin(phi[2])*w[1]^2 + g*m2*c2*cos(phi[1] + phi[2]);
  tool[1] = l1*cos(phi[1]) + l2*cos(phi[1] + phi[2]);
  tool[2] = l1*sin(phi[1]) + l2*sin(phi[1] + phi[2]);
  energy = 0.5*w*(M*w)
    + g*((m1*c1 + m2*l1)*sin(phi[1]) + m2*c2*sin(phi[1] + phi[2]));
  annotation (Documentation(info = "<html>
<p>Kinematics, mass matrix and <code>h</code> of <code>M(phi)*der(w) + h(phi, w) = torque</code>; what extends
it says what the torques are.</p>
<p>A rotor behind a gear of ratio N turns N times as fast as its joint: <code>rotor = N^2*J</code> is added
to its own element of the mass matrix. That the rotor also turns with the link that carries it is left
out; it is a part of 1/N of the same.</p>
</html>"));
end PartialTwoLinkArm;
