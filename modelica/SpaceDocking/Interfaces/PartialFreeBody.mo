within SpaceDocking.Interfaces;
partial model PartialFreeBody "Body that floats freely along one axis"
  parameter Units.Mass m = 1 "Mass";
  parameter Units.Position x0 = 0 "Position at the start";
  parameter Units.Velocity v0 = 0 "Velocity at the start";
  input Units.Force force "Contact force on the body";
  input Units.Force virtual_force "Force of a virtual impedance on the body";
  output Units.Position position(start = x0, fixed = true) "Position of the body";
  output Units.Velocity velocity(start = v0, fixed = true) "Velocity of the body";
  output Units.Energy energy "Kinetic energy";
equation
  der(position) = velocity;
  energy = 0.5*m*velocity^2;
  annotation (Documentation(info = "<html>
<p>Kinematics, start values and ports of a body with one degree of freedom. Extending classes add
the balance of momentum.</p>
</html>"));
end PartialFreeBody;
