within SpaceDocking.Bodies;
model Target "Target spacecraft without thrusters, one degree of freedom"
  extends Interfaces.PartialFreeBody(m = 1e6);
equation
  m*der(velocity) = force + virtual_force;
  annotation (Documentation(info = "<html>
<p>Balance of momentum of a free-floating target:
<code>m*der(velocity) = force + virtual_force</code>.</p>
<p>The default mass is so large that the target practically stands still.</p>
</html>"));
end Target;
