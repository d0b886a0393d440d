within SpaceDocking.Chains;
function forwardDynamics "Accelerations of a chain, and loads on what stands still"
  input Real axis[:, 3] "Axes of the joints, unit vectors";
  input Real offset[size(axis, 1), 3] "Origins of the frames, each in the frame before it, m";
  input Real m[size(axis, 1) + 1] "Masses of base and links, kg";
  input Real center[size(axis, 1) + 1, 3] "Centres of mass, in the frame of each link, m";
  input Real J[size(axis, 1) + 1, 3, 3] "Inertias about the centres of mass, kg.m2";
  input Real rotor[size(axis, 1)] "What the joints feel of their motors, kg.m2";
  input Real phi[size(axis, 1)] "Joint angles, rad";
  input Real rate[size(axis, 1)] "Joint rates, rad/s";
  input Real w[3] "Angular velocity of the base, in its frame, rad/s";
  input Real torque[size(axis, 1)] "Torques at the joints; friction of those that slide, N.m";
  input Real moves[size(axis, 1)] "1 for joints that may move, 0 for joints that stand still";
  input Real base_moves[6] "1 where the base may move, about and along the axes of its frame, or 0";
  input Real base_torque[3] "Torque on the base, in its frame, N.m";
  input Real base_force[3] "Force on the base at its origin, in its frame, N";
  input Real tip[3] "Point of the last link where the wrench at the end acts, in its frame, m";
  input Real tip_torque[3] "Torque at the end, in the frame of the base, N.m";
  input Real tip_force[3] "Force at the end, in the frame of the base, N";
  output Real acceleration[size(axis, 1)] "Accelerations of the joints, rad/s2";
  output Real load[size(axis, 1)] "Torques that joints which stand still have to hold, N.m";
  output Real base_turning[3] "Angular acceleration of the base, in its frame, rad/s2";
  output Real base_acceleration[3] "Acceleration of its origin, in its frame, m/s2";
  output Real guide_torque[3] "Torque of the guide on the base, in its frame, N.m";
  output Real guide_force[3] "Force of the guide on the base at its origin, in its frame, N";
protected
  Integer n = size(axis, 1) "Number of joints";
  Real R[n, 3, 3] "Rotations of the joints";
  Real omega[n + 1, 3] "Angular velocities of the links, each in its frame";
  Real A[n + 1, 3, 3] "Articulated inertia: torque for angular acceleration";
  Real B[n + 1, 3, 3] "Articulated inertia: torque for acceleration";
  Real C[n + 1, 3, 3] "Articulated inertia: force for acceleration";
  Real pn[n + 1, 3] "Torques without accelerations";
  Real pf[n + 1, 3] "Forces without accelerations";
  Real Un[n, 3] "Torques for a unit acceleration of the joint";
  Real Uf[n, 3] "Forces for a unit acceleration of the joint";
  Real D[n] "Inertias of the joints";
  Real u[n] "Torques that accelerate the joints of a parent that stands still";
  Real cn[n, 3] "Angular accelerations at constant rates";
  Real cf[n, 3] "Accelerations at constant rates, before the joint's rotation";
  Real b[3] "Acceleration at constant rates, in the frame of the link";
  Real h[3] "Force of a link that turns at constant rate";
  Real end_force[3] "Force at the end, in the frame of the link";
  Real end_torque[3] "Torque at the end, in the frame of the link";
  Real Lx[3, 3] "Cross product with the offset";
  Real T[3, 3] "Product";
  Real N[3, 3] "Product";
  Real f[3] "Force on the parent";
  Real M[6, 6] "Inertia of the whole chain about the origin of the base";
  Real K[6, 6] "M while it is eliminated";
  Real y[6] "Right-hand side while M is eliminated";
  Real given[6] "Torque and force that accelerate the base";
  Real x[6] "Accelerations of the base";
  Real alpha[3] "Angular acceleration of a link";
  Real a[3] "Acceleration of the origin of a link";
  Real s "Sum";
algorithm
  omega[1, :] := w;
  for i in 1:n loop
    R[i, :, :] := jointRotation(axis[i, :], phi[i]);
    h := transpose(R[i, :, :])*omega[i, :];
    omega[i + 1, :] := h + axis[i, :]*rate[i];
    cn[i, :] := cross(h, axis[i, :]*rate[i]);
    cf[i, :] := cross(omega[i, :], cross(omega[i, :], offset[i, :]));
  end for;
  for i in 1:n + 1 loop
    T := skew(center[i, :]);
    for j in 1:3 loop
      for k in 1:3 loop
        if k <= j then
          A[i, j, k] := J[i, j, k]
            + m[i]*((if j == k then center[i, :]*center[i, :] else 0) - center[i, j]*center[i, k]);
          A[i, k, j] := A[i, j, k];
        end if;
      end for;
      for k in 1:3 loop
        B[i, j, k] := m[i]*T[j, k];
        C[i, j, k] := if j == k then m[i] else 0;
      end for;
    end for;
    h := m[i]*cross(omega[i, :], cross(omega[i, :], center[i, :]));
    pf[i, :] := h;
    pn[i, :] := cross(omega[i, :], J[i, :, :]*omega[i, :]) + cross(center[i, :], h);
  end for;
  end_torque := tip_torque;
  end_force := tip_force;
  for i in 1:n loop
    end_torque := transpose(R[i, :, :])*end_torque;
    end_force := transpose(R[i, :, :])*end_force;
  end for;
  pn[n + 1, :] := pn[n + 1, :] - end_torque - cross(tip, end_force);
  pf[n + 1, :] := pf[n + 1, :] - end_force;
  for i in size(axis, 1):-1:1 loop
    b := transpose(R[i, :, :])*cf[i, :];
    pn[i + 1, :] := pn[i + 1, :] + A[i + 1, :, :]*cn[i, :] + B[i + 1, :, :]*b;
    pf[i + 1, :] := pf[i + 1, :] + transpose(B[i + 1, :, :])*cn[i, :] + C[i + 1, :, :]*b;
    Un[i, :] := A[i + 1, :, :]*axis[i, :];
    Uf[i, :] := transpose(B[i + 1, :, :])*axis[i, :];
    D[i] := axis[i, :]*Un[i, :] + rotor[i];
    u[i] := torque[i] - axis[i, :]*pn[i + 1, :];
    s := moves[i]/D[i];
    for j in 1:3 loop
      for k in 1:3 loop
        if k <= j then
          A[i + 1, j, k] := A[i + 1, j, k] - s*Un[i, j]*Un[i, k];
          A[i + 1, k, j] := A[i + 1, j, k];
          C[i + 1, j, k] := C[i + 1, j, k] - s*Uf[i, j]*Uf[i, k];
          C[i + 1, k, j] := C[i + 1, j, k];
        end if;
      end for;
      for k in 1:3 loop
        B[i + 1, j, k] := B[i + 1, j, k] - s*Un[i, j]*Uf[i, k];
      end for;
    end for;
    f := R[i, :, :]*(pf[i + 1, :] + s*u[i]*Uf[i, :]);
    pf[i, :] := pf[i, :] + f;
    pn[i, :] := pn[i, :] + R[i, :, :]*(pn[i + 1, :] + s*u[i]*Un[i, :]) + cross(offset[i, :], f);
    Lx := skew(offset[i, :]);
    T := congruence(R[i, :, :], C[i + 1, :, :]);
    C[i, :, :] := C[i, :, :] + T;
    T := Lx*T;
    N := R[i, :, :]*B[i + 1, :, :]*transpose(R[i, :, :]);
    B[i, :, :] := B[i, :, :] + N + T;
    N := Lx*transpose(N);
    A[i, :, :] := A[i, :, :] + congruence(R[i, :, :], A[i + 1, :, :]);
    T := T*Lx;
    for j in 1:3 loop
      for k in 1:3 loop
        if k <= j then
          A[i, j, k] := A[i, j, k] + N[j, k] + N[k, j] - T[j, k];
          A[i, k, j] := A[i, j, k];
        end if;
      end for;
    end for;
  end for;
  for j in 1:3 loop
    for k in 1:3 loop
      M[j, k] := A[1, j, k];
      M[j, k + 3] := B[1, j, k];
      M[k + 3, j] := B[1, j, k];
      M[j + 3, k + 3] := C[1, j, k];
    end for;
    y[j] := base_torque[j] - pn[1, j];
    y[j + 3] := base_force[j] - pf[1, j];
  end for;
  given := y;
  K := M;
  for i in 6:-1:1 loop
    for j in 1:6 loop
      if j < i then
        s := base_moves[i]*K[i, j]/K[i, i];
        for k in 1:6 loop
          if k <= j then
            K[j, k] := K[j, k] - s*K[i, k];
          end if;
        end for;
        y[j] := y[j] - s*y[i];
      end if;
    end for;
  end for;
  for j in 1:6 loop
    s := y[j];
    for k in 1:6 loop
      if k < j then
        s := s - K[j, k]*x[k];
      end if;
    end for;
    x[j] := base_moves[j]*s/K[j, j];
  end for;
  given := M*x - given;
  guide_torque := given[1:3];
  guide_force := given[4:6];
  base_turning := x[1:3];
  base_acceleration := x[4:6];
  alpha := base_turning;
  a := base_acceleration;
  for i in 1:n loop
    a := transpose(R[i, :, :])*(a + cross(alpha, offset[i, :]));
    alpha := transpose(R[i, :, :])*alpha;
    load[i] := u[i] - Un[i, :]*alpha - Uf[i, :]*a;
    acceleration[i] := moves[i]*load[i]/D[i];
    a := a + transpose(R[i, :, :])*cf[i, :];
    alpha := alpha + cn[i, :] + axis[i, :]*acceleration[i];
  end for;
  annotation (Documentation(info = "<html>
<p>Articulated bodies (Featherstone, Rigid Body Dynamics Algorithms, 2008, chapter 7) in the frames of the
links, with the accelerations of the origins as they are in space: no velocity of the base but its angular
one appears. A joint that stands still passes the whole inertia of what hangs on it to its parent, so
each pattern of sticking and sliding joints costs the same. The base is eliminated by a Cholesky
decomposition without roots that leaves out the directions in which it may not move.</p>
</html>"));
end forwardDynamics;
