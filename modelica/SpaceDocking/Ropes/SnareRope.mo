within SpaceDocking.Ropes;
model SnareRope "One rope of a snare whose device stands, and the grapple shaft that it meets"
  extends Interfaces.PartialSnareRope;
equation
  D = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  whirl = {0, 0, 0};
  annotation (Documentation(info = "<html>
<p>The frame of the rings is the world frame, but for <code>drag</code>.</p>
</html>"));
end SnareRope;
