within SpaceDocking;
package Docking "Docking of a spacecraft by a manipulator"
  annotation (Documentation(info = "<html>
<p>The motion of all bodies under the force of the contact. A class whose name ends in
<code>Ideal</code> has the contact inside: it moves as in space, and a rig is measured against it. The
others take the force as an input, as a rig gives it.</p>
</html>"));
end Docking;
