within SpaceDocking;
package Ropes "Wire ropes and tethers"
  annotation (Documentation(info = "<html>
<p>Ropes as chains of point masses.</p>
</html>"));
end Ropes;
