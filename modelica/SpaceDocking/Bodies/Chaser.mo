within SpaceDocking.Bodies;
model Chaser "Chasing spacecraft with thrusters, one degree of freedom"
  extends Interfaces.PartialFreeBody(m = 750, v0 = 0.03);
  input Units.Force thrust "Force of the thrusters";
equation
  m*der(velocity) = force + virtual_force + thrust;
  annotation (Documentation(info = "<html>
<p>Balance of momentum of a free-floating chaser:
<code>m*der(velocity) = force + virtual_force + thrust</code>.</p>
<p>By default it approaches with 0.03 m/s.</p>
</html>"));
end Chaser;
