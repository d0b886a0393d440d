model Specimen "the frame in the laboratory: what it takes to move it"
  parameter Real m_e(unit="kg", min=0) = 29.13 "Mass in the laboratory";
  parameter Real k_e(unit="N/m", min=0) = 1190e3 "Stiffness in the laboratory";
  parameter Real zeta_e(unit="1", min=0) = 0.0097 "Damping ratio in the laboratory";
  input Real position(unit="m", start=0) "Where it is moved to";
  input Real velocity(unit="m/s", start=0) "How fast";
  input Real acceleration(unit="m/s2", start=0) "How that changes";
  output Real force(unit="N") "What that takes";
  output Real energy(unit="J") "Of motion and spring";
  output Real dissipation(unit="W") "Power that the damper takes";
equation
  force = m_e*acceleration + 2*zeta_e*sqrt(m_e*k_e)*velocity + k_e*position;
  energy = (m_e*velocity^2 + k_e*position^2)/2;
  dissipation = 2*zeta_e*sqrt(m_e*k_e)*velocity^2;
end Specimen;
