within SpaceDocking;
package Interfaces "Bases that fix the inputs and outputs of each kind of plant"
  annotation (Documentation(info = "<html>
<p>Two plants with the same base can replace each other in a system without new connections.</p>
</html>"));
end Interfaces;
