within SpaceDocking.Drives;
model BrakedBench "Bench whose drive motor has lost its power and brakes over a resistor"
  extends MotorBench(R = 7.24);
  annotation (Documentation(info = "<html>
<p>The windings of the drive motor, 2.05 Ohm, are closed over 5.19 Ohm, and <code>voltage</code> is zero.
Behind a gear of 100 the joint then has the viscous friction of 5.4 N.m.s/rad that Cai et al., Robotica
(2023), give for theirs; its Coulomb friction is 2.05 N.m and its rotor 0.638 kg.m2.</p>
</html>"));
end BrakedBench;
