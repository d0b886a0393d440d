within SpaceDocking.Examples;
model BallOnSpring "A ball drops on a springy floor"
  Contact.CompliantBall ball "Ball";
  annotation (
    experiment(StartTime = 0, StopTime = 2, Tolerance = 1e-9, Interval = 0.001),
    Documentation(info = "<html>
<p>Flights are parabolas and contacts damped oscillations, each in closed form between two events.</p>
</html>"));
end BallOnSpring;
