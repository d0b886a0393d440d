within SpaceDocking.Contact;
model FlushLock "Face of a capture device: three pads rest on it, and latches hold what is flush"
  parameter Units.Position face = 0.03 "Place of the face along z, in the frame of the device";
  parameter Units.Position shaft_base[3] = {0.040931, -0.00137, -0.342138}
    "Middle of the pads, in the frame of the target";
  parameter Units.Position pads(min = 1e-6) = 0.1 "Distance of the pads from their middle";
  parameter Units.Stiffness k = 1e4 "Stiffness of a pad";
  parameter Units.Damping c = 200 "Damping of a pad";
  parameter Units.Position gap(min = 0) = 1e-3 "All pads nearer than this: flush";
  parameter Units.Position aside(min = 0) = 0.015 "Largest distance of their middle from the axis";
  parameter Units.Velocity speed(min = 0) = 0.05 "Largest speed of a pad along z to latch";
  input Units.Position position[3] "Centre of mass of the target";
  input Units.Velocity velocity[3] "Its velocity";
  input Real q[4](each unit = "1", start = {1, 0, 0, 0})
    "Unit quaternion that turns the target's frame into the world frame";
  input Units.AngularVelocity omega[3] "Angular velocity of the target, in its frame";
  input Units.Position frame_r[3](each start = 0) "Origin of the device's frame";
  input Units.Velocity frame_v[3](each start = 0) "Its velocity";
  input Real frame_q[4](each unit = "1", start = {1, 0, 0, 0})
    "Unit quaternion that turns the device's frame into the world frame";
  input Units.AngularVelocity frame_omega[3](each start = 0)
    "Angular velocity of the device, world frame";
  output Units.Force force[3] "Force on the target, world frame";
  output Units.Torque torque[3] "Torque on the target about its centre of mass, world frame";
  output Units.Torque frame_torque[3]
    "Torque on the device about the origin of its frame, world frame; its force is -force";
  output Boolean locked(start = false, fixed = true) "The latches hold";
  output Units.Position offset "Distance of the middle of the pads from the axis of the device";
  output Units.Position nearness "Largest distance of a pad from the face";
  output Units.Energy energy "Energy of pads and latches";
  output Units.Power dissipation "Power that they take";
  output Units.Energy target_work(start = 0, fixed = true) "Work of target and device on them";
  output Units.Energy heat(start = 0, fixed = true) "What their dampers have taken";
  discrete output Units.Energy latch_work(start = 0, fixed = true)
    "Energy of the springs that the latches have stretched by taking hold";
protected
  constant Real third(unit = "rad") = 2.0943951023931953 "A third of a turn";
  Real D[3, 3](each unit = "1") "Rotation from the device to the world";
  Real A[3, 3](each unit = "1") "Rotation from the target to the device";
  Units.Position away[3] "Centre of mass of the target from the device, world frame";
  Units.Position seen[3] "The same in the device's frame, as all that follows";
  Units.Velocity seen_rate[3] "Its rate there";
  Units.AngularVelocity tumble[3] "Angular velocity of the target against the device";
  Units.Position middle[3] "Middle of the pads";
  Units.Position arm[3, 3] "Pads from the centre of mass";
  Units.Position place[3, 3] "Pads";
  Units.Velocity rate[3, 3] "Their velocities";
  Units.Velocity fastest "Largest speed along z";
  discrete Units.Position held_x[3](each start = 0, each fixed = true) "Pads as they were latched";
  discrete Units.Position held_y[3](each start = 0, each fixed = true) "Pads as they were latched";
  Units.Position off[3, 3] "How far springs are pressed or drawn";
  Units.Force each_force[3, 3] "Force of each pad";
  Units.Force sum_force[3] "Their sum";
  Units.Torque sum_torque[3] "Its torque about the centre of mass of the target";
  Boolean flush "Near, in the middle and slow enough to be latched";
equation
  D = Rotations.matrix(frame_q);
  A = transpose(D)*Rotations.matrix(q);
  away = position - frame_r;
  seen = transpose(D)*away;
  seen_rate = transpose(D)*(velocity - frame_v - cross(frame_omega, away));
  tumble = A*omega - transpose(D)*frame_omega;
  middle = seen + A*shaft_base;
  offset = sqrt(middle[1]^2 + middle[2]^2 + 1e-18);
  for i in 1:3 loop
    arm[i, :] = A*(shaft_base + {pads*cos((i - 1)*third), pads*sin((i - 1)*third), 0});
    place[i, :] = seen + arm[i, :];
    rate[i, :] = seen_rate + cross(tumble, arm[i, :]);
    off[i, 1] = if locked then place[i, 1] - held_x[i] else 0;
    off[i, 2] = if locked then place[i, 2] - held_y[i] else 0;
    off[i, 3] = noEvent(if locked then place[i, 3] - face else min(0, place[i, 3] - face));
    each_force[i, 1] = if locked then -k*off[i, 1] - c*rate[i, 1] else 0;
    each_force[i, 2] = if locked then -k*off[i, 2] - c*rate[i, 2] else 0;
    each_force[i, 3] = noEvent(if locked then -k*off[i, 3] - c*rate[i, 3]
      elseif off[i, 3] < 0 then max(0, -k*off[i, 3] - c*rate[i, 3]) else 0);
  end for;
  nearness = max(max(place[1, 3], place[2, 3]), place[3, 3]) - face;
  fastest = max(max(abs(rate[1, 3]), abs(rate[2, 3])), abs(rate[3, 3]));
  flush = nearness < gap and offset < aside and fastest < speed;
  when {initial(), locked} then
    held_x = place[:, 1];
    held_y = place[:, 2];
  end when;
  when locked then
    latch_work = 0.5*k*(max(0, place[1, 3] - face)^2 + max(0, place[2, 3] - face)^2
      + max(0, place[3, 3] - face)^2);
  end when;
  locked = pre(locked) or flush;
  for j in 1:3 loop
    sum_force[j] = sum(each_force[:, j]);
  end for;
  sum_torque = {arm[:, 2]*each_force[:, 3] - arm[:, 3]*each_force[:, 2],
    arm[:, 3]*each_force[:, 1] - arm[:, 1]*each_force[:, 3],
    arm[:, 1]*each_force[:, 2] - arm[:, 2]*each_force[:, 1]};
  force = D*sum_force;
  torque = D*sum_torque;
  frame_torque = -(torque + cross(away, force));
  der(target_work) = -(sum_force*seen_rate + sum_torque*tumble);
  der(heat) = dissipation;
  energy = 0.5*k*(off[:, 1]*off[:, 1] + off[:, 2]*off[:, 2] + off[:, 3]*off[:, 3]);
  dissipation = -(each_force[:, 1]*rate[:, 1] + each_force[:, 2]*rate[:, 2]
    + each_force[:, 3]*rate[:, 3]) - k*(off[:, 1]*rate[:, 1] + off[:, 2]*rate[:, 2]
    + off[:, 3]*rate[:, 3]);
  annotation (Documentation(info = "<html>
<p>The third step of a snare capture (Cai, Chen, Luo and Wang, Aerospace 8, 381 (2021), section 3): a
target that has been drawn onto the face is locked. All figures are assumed. The pads push without
friction and never pull. When all three are within <code>gap</code> of the face, their middle within
<code>aside</code> of the axis, and slow, latches hold each pad where it is, and on the face.</p>
<p>The device's frame is the world frame where nothing says where it is.</p>
</html>"));
end FlushLock;
