within SpaceDocking;
package Manipulators "Arms with locked joints"
  annotation (Documentation(info = "<html>
<p>An arm that stands still is a spring with a damper between the bodies at its two ends.</p>
</html>"));
end Manipulators;
