within SpaceDocking;
package Rotations "Attitudes as unit quaternions, scalar first"
  annotation (Documentation(info = "<html>
<p>A quaternion <code>q</code> turns vectors of a body's frame into the frame that the body is seen
from. <code>q</code> and <code>-q</code> are the same attitude. Functions divide by the norm, so an
error of it does not scale vectors.</p>
</html>"));
end Rotations;
