within SpaceDocking.Examples;
model BallDrop "A ball drops, bounces and comes to rest"
  Contact.BouncingBall ball "Ball";
  annotation (
    experiment(StartTime = 0, StopTime = 3, Tolerance = 1e-9, Interval = 0.01),
    Documentation(info = "<html>
<p>Falling times are known in closed form: the first impact is at <code>sqrt(2*h0/g)</code>, and each
flight lasts <code>restitution</code> times the one before.</p>
</html>"));
end BallDrop;
