within SpaceDocking.Examples;
model RopeSnap "A bent wire rope is let go and straightens"
  Ropes.WireRope rope(curvature = 0.1) "Rope";
equation
  rope.force_a = {0, 0, 0};
  rope.force_b = {0, 0, 0};
  annotation (
    experiment(StartTime = 0, StopTime = 0.5, Tolerance = 1e-9, Interval = 0.001),
    Documentation(info = "<html>
<p>The bow turns into bending vibrations; energy and momentum stay constant. The bow is slight:
with a curvature of 1 1/m the segments start stretched by up to 40 %, the motion is chaotic, and
errors grow ten-fold in about 0.04 s.</p>
</html>"));
end RopeSnap;
