within SpaceDocking;
package Chains "Chains of rigid links with revolute joints on a moving base"
  annotation (Documentation(info = "<html>
<p>Link 0 is the base, link <code>i</code> hangs on joint <code>i</code>; arrays over links begin with the
base. In zero position all frames are parallel to that of the base. The origin of frame <code>i</code> lies
on the axis of joint <code>i</code> and moves with link <code>i</code>.</p>
<p>What is constant (number of joints, their axes, the origins of the frames) is the structure of a class
and is multiplied out when an FMU is made; masses, centres of mass, inertias and friction are parameters
that may be set before a run.</p>
</html>"));
end Chains;
