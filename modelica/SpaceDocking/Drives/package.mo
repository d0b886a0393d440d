within SpaceDocking;
package Drives "Motors with gearboxes and friction"
  annotation (Documentation(info = "<html>
<p>Drives that a voltage goes into and a motion comes out of, with the friction that makes them
stick.</p>
</html>"));
end Drives;
