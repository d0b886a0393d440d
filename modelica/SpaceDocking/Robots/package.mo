within SpaceDocking;
package Robots "Robots that move the hardware of a docking rig"
  annotation (Documentation(info = "<html>
<p>Robots as their position controller shows them: a command goes in, a motion comes out.</p>
</html>"));
end Robots;
