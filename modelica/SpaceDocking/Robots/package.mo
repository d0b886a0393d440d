within SpaceDocking;
package Robots "Robots that move the hardware of a docking rig"
  annotation (Documentation(info = "<html>
<p>Robots as their position controller shows them, a command goes in and a motion comes out; and as
mechanisms that torques move.</p>
</html>"));
end Robots;
