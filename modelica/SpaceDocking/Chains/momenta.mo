within SpaceDocking.Chains;
function momenta "Centre of mass, momenta and kinetic energy of a chain"
  input Real axis[:, 3] "Axes of the joints, unit vectors";
  input Real offset[size(axis, 1), 3] "Origins of the frames, each in the frame before it, m";
  input Real m[size(axis, 1) + 1] "Masses of base and links, kg";
  input Real center[size(axis, 1) + 1, 3] "Centres of mass, in the frame of each link, m";
  input Real J[size(axis, 1) + 1, 3, 3] "Inertias about the centres of mass, kg.m2";
  input Real phi[size(axis, 1)] "Joint angles, rad";
  input Real rate[size(axis, 1)] "Joint rates, rad/s";
  input Real v[3] "Velocity of the origin of the base, in its frame, m/s";
  input Real w[3] "Angular velocity of the base, in its frame, rad/s";
  output Real center_of_mass[3] "Centre of mass, from the base in its frame, m";
  output Real momentum[3] "Momentum, in the frame of the base, kg.m/s";
  output Real angular_momentum[3]
    "Angular momentum about the centre of mass, in the frame of the base, kg.m2/s";
  output Real energy "Kinetic energy, J";
protected
  Integer n = size(axis, 1) "Number of joints";
  Real R[n, 3, 3] "Rotations of the joints";
  Real omega[n + 1, 3] "Angular velocities of the links, each in its frame";
  Real velocity[n + 1, 3] "Velocities of the origins, each in the frame of the link";
  Real P[n + 1, 3] "Momenta of the links and all after them";
  Real H[n + 1, 3] "Their angular momenta about the origin of the frame";
  Real S[n + 1, 3] "Their first moments of mass about it";
  Real mass[n + 1] "Their masses";
  Real u[3] "Velocity of a centre of mass";
  Real p[3] "Momentum in the frame before";
algorithm
  omega[1, :] := w;
  velocity[1, :] := v;
  for i in 1:n loop
    R[i, :, :] := jointRotation(axis[i, :], phi[i]);
    omega[i + 1, :] := transpose(R[i, :, :])*omega[i, :] + axis[i, :]*rate[i];
    velocity[i + 1, :] := transpose(R[i, :, :])*(velocity[i, :] + cross(omega[i, :], offset[i, :]));
  end for;
  energy := 0;
  for i in 1:n + 1 loop
    u := velocity[i, :] + cross(omega[i, :], center[i, :]);
    energy := energy + 0.5*m[i]*(u*u) + 0.5*(omega[i, :]*(J[i, :, :]*omega[i, :]));
    mass[i] := m[i];
    P[i, :] := m[i]*u;
    S[i, :] := m[i]*center[i, :];
    H[i, :] := J[i, :, :]*omega[i, :] + cross(center[i, :], P[i, :]);
  end for;
  for i in size(axis, 1):-1:1 loop
    p := R[i, :, :]*P[i + 1, :];
    P[i, :] := P[i, :] + p;
    H[i, :] := H[i, :] + R[i, :, :]*H[i + 1, :] + cross(offset[i, :], p);
    S[i, :] := S[i, :] + R[i, :, :]*S[i + 1, :] + mass[i + 1]*offset[i, :];
    mass[i] := mass[i] + mass[i + 1];
  end for;
  center_of_mass := S[1, :]/mass[1];
  momentum := P[1, :];
  angular_momentum := H[1, :] - cross(center_of_mass, momentum);
  annotation (Documentation(info = "<html>
<p>Velocities go from the base to the end; masses, first moments and momenta come back.</p>
</html>"));
end momenta;
