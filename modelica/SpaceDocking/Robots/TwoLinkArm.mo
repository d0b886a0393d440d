within SpaceDocking.Robots;
model TwoLinkArm "Planar arm of two rigid links with torques at its joints"
  extends Interfaces.PartialTwoLinkArm;
  input Units.Torque torque[2] "Torques at the joints";
equation
  M*der(w) + h = torque;
  annotation (Documentation(info = "<html>
<p>Equations of motion in joint coordinates with an implicit mass matrix,
<code>M(phi)*der(w) + h(phi, w) = torque</code>; the exporter solves them for <code>der(w)</code>.</p>
<p>There is no friction: without torques <code>energy</code> is constant. The arm lies in a vertical
plane; <code>g = 0</code> lays it flat.</p>
</html>"));
end TwoLinkArm;
