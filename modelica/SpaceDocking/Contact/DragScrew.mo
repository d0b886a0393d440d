within SpaceDocking.Contact;
model DragScrew "Screw that draws a captured rod along an axis at constant speed"
  parameter Units.AngularVelocity speed(min = 0) = 0 "Speed of the screw while it drags";
  parameter Units.Position lead(min = 1e-9) = 0.005 "Travel of the screw in one turn";
  parameter Units.Position stroke(min = 0) = 0.04 "Travel of the whole drag";
  parameter Units.Time begin = 0 "When it begins";
  parameter Units.Time ramp(min = 1e-9) = 0.1 "Time to reach the speed, and to come to rest";
  parameter Real axis[3](each unit = "1") = {0, 0, -1} "Direction, in the end-effector's frame";
  output Units.Position drag[3] "Displacement of where the contact is at rest";
  output Units.Velocity drag_rate[3] "Rate of the displacement";
protected
  constant Real pi(unit = "1") = 3.14159265358979323846 "Circle constant";
  final parameter Units.Velocity rate = speed*lead/(2*pi) "Travel in a second at full speed";
  final parameter Units.Time change[2] = {begin, begin + (if rate > 0 then stroke/rate else 0)}
    "When the screw begins to move, and when it begins to come to rest";
  Real share[2](each unit = "1") "Share of the speed that is gained, and lost again";
  Units.Time full[2] "Time at full speed in which the same way is gained, and lost";
equation
  for i in 1:2 loop
    share[i] = max(0, min(1, (time - change[i])/ramp));
    full[i] = 0.5*ramp*share[i]^2 + max(0, time - change[i] - ramp);
  end for;
  drag = (full[1] - full[2])*rate*axis;
  drag_rate = (share[1] - share[2])*rate*axis;
  annotation (Documentation(info = "<html>
<p>The drag phase of a manipulator docking: a lead screw at constant angular velocity moves the rings
that hold the ropes along the end-effector's axis, and with them the place <code>O_D</code> where the
contact is at rest; <code>drag_rate</code> is <code>v_D</code> in Eq 22 of Yu et al., IEEE Access
(2018). The paper gives neither speed nor lead, stroke or ramp: all are assumed. The screw is stiff.
With <code>speed = 0</code> nothing moves.</p>
</html>"));
end DragScrew;
