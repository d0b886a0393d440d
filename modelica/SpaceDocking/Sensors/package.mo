within SpaceDocking;
package Sensors "Sensors of a rig"
  annotation (Documentation(info = "<html>
<p>Sensors as their users see them: late by a lag, and with a bias. Noise is no part of them: it is a
fault of the line, or a block.</p>
</html>"));
end Sensors;
