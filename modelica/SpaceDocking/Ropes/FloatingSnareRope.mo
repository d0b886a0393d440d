within SpaceDocking.Ropes;
model FloatingSnareRope "One rope of a snare whose device turns, and the grapple shaft that it meets"
  extends Interfaces.PartialSnareRope;
  input Real ring_q[4](each unit = "1", start = {1, 0, 0, 0})
    "Unit quaternion that turns the frame of the rings into the world frame";
  input Units.AngularVelocity ring_omega[3](each start = 0)
    "Angular velocity of that frame, world frame";
equation
  D = Rotations.matrix(ring_q);
  whirl = ring_omega;
  annotation (Documentation(info = "<html>
<p>For <a href=\"modelica://SpaceDocking.Bodies.FreeDevice\">FreeDevice</a>: it costs a tenth more than
<a href=\"modelica://SpaceDocking.Ropes.SnareRope\">SnareRope</a>.</p>
</html>"));
end FloatingSnareRope;
