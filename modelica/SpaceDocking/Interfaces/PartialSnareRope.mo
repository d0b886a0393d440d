within SpaceDocking.Interfaces;
partial model PartialSnareRope "One rope of a snare, between its two rings, and the grapple shaft that it meets"
  extends PartialSpatialRope;
  parameter Units.Position R(min = 1e-6) = 0.15 "Radius of the rings";
  parameter Units.Position height = 0.02 "Distance of the rings; the fixed one is on the side of +z";
  parameter Units.Angle start_a = 0 "Where the rope is fixed, from x about z";
  parameter Units.Angle opening = 2.0943951023931953 "Angle from there to the moving point, open";
  parameter Units.Angle lay_a = 2.27 "Direction of the clamp at a, from the radius there";
  parameter Units.Angle lay_b = 0.87 "Direction of the clamp at b, from the radius there";
  parameter Units.Position shaft_base[3] = {0.040931, -0.00137, -0.342138}
    "Base of the grapple shaft, in the frame of the target";
  parameter Real shaft_line[3](each unit = "1") = {0, 0, -1} "Unit vector to its tip, same frame";
  parameter Units.Position shaft_length(min = 0) = 0.10 "Length of the shaft";
  parameter Units.Position head_length(min = 0) = 0.012 "Length of the cone of 45 degrees at its tip";
  parameter Units.Position radius(min = 1e-6) = 0.0115 "Radius of the shaft and that of the rope";
  parameter Units.Stiffness k_contact = 1e4 "Stiffness of the contact of a segment";
  parameter Units.Damping c_contact = 5 "Damping of that contact";
  parameter Real mu(unit = "1", min = 0) = 0.2 "Friction";
  parameter Units.Damping c_stick = 10 "Damping that stands for sticking, below mu times the push";
  input Units.Angle angle "Angle of the rotating ring";
  input Units.AngularVelocity angle_rate "Its rate";
  input Units.Position drag[3](each start = 0) "Middle of the rings, world frame";
  input Units.Velocity drag_rate[3](each start = 0) "Its rate";
  input Units.Position position[3] "Centre of mass of the target";
  input Units.Velocity velocity[3] "Its velocity";
  input Real q[4](each unit = "1", start = {1, 0, 0, 0})
    "Unit quaternion that turns the target's frame into the world frame";
  input Units.AngularVelocity omega[3] "Angular velocity of the target, in its frame";
  output Units.Force force[3] "Force on the target, world frame";
  output Units.Torque torque[3] "Torque on the target about its centre of mass, world frame";
  output Units.Torque ring_torque "Torque on the rotating ring about its axis";
  output Units.Torque ring_moment[3] "Torque on both rings about their middle, world frame";
  output Units.Force push "Sum of the pushes of all segments";
  output Units.Force pushes[n - 1] "Push of each segment on the shaft";
  output Units.Impulse impulses[n - 1](each start = 0, each fixed = true) "Their impulses so far";
  output Units.Position deepest "Deepest overlap of rope and shaft";
  output Units.Position nodes[n, 3] "Places of all nodes";
  output Units.Energy ring_work(start = 0, fixed = true) "Work of the rotating ring on the rope";
  output Units.Energy drag_work(start = 0, fixed = true)
    "Work of what moves and turns both rings together";
  output Units.Energy target_work(start = 0, fixed = true) "Work of the target on the rope";
  output Units.Energy heat(start = 0, fixed = true) "What dampers and friction have taken";
  output Units.Momentum momentum[3] "Momentum of the inner nodes";
  output Units.AngularMomentum angular_momentum[3]
    "Theirs about the origin, and that of the spin of the segments";
protected
  constant Real sine45(unit = "1") = 0.70710678118654752 "Sine of 45 degrees";
  Real A[3, 3](each unit = "1") "Rotation from the target to the world";
  Real D[3, 3](each unit = "1") "Rotation from the rings to the world";
  Units.AngularVelocity whirl[3] "Angular velocity of the rings together, world frame";
  Units.Position from_a[3] "First node from the middle of the rings";
  Units.Position from_b[3] "Last node from there";
  Units.Position around[3] "Velocity of the last node for 1 rad/s of the rotating ring";
  Real orbit[n - 2, 3](each unit = "m2/s") "Angular momenta of the inner nodes, for 1 kg";
  Units.Position outside[3] "Base of the shaft from the middle of the rings";
  Units.Position base[3] "Base of the shaft";
  Real line[3](each unit = "1") "Its direction";
  Units.AngularVelocity tumble[3] "Angular velocity of the target, world frame";
  Units.Angle beta "Angle of the moving point";
  Units.Position seen[n, 3] "Nodes from the base of the shaft";
  Units.Position along[n] "Their places along the shaft";
  Units.Position aside[n, 3] "Their places across the shaft";
  Units.Position chord[n - 1, 3] "Segments across the shaft";
  Real inverse_square[n - 1](each unit = "1/m2") "One over the square of their lengths";
  Real foot[n - 1](each unit = "1") "Where the line of a segment is nearest to that of the shaft";
  Real share[n - 1](each unit = "1") "Place of the contact on its segment";
  Units.Position nearest[n - 1, 3] "What is nearest to the shaft's line, across it";
  Units.Position distance[n - 1] "Its distance from that line";
  Units.Position up[n - 1] "Its place along it";
  Units.Position before[n - 1] "Its distance from the face at the tip; 0 beyond it";
  Units.Position in_shaft[n - 1] "Overlap with the side of the shaft";
  Units.Position in_head[n - 1] "Overlap with the cone of the head";
  Units.Position on_shaft[n - 1] "The way out of the shaft: by its side, or by the face";
  Units.Position on_head[n - 1] "The way out of the head: by its cone, or by the face";
  Units.Position outward[n - 1] "What leads away from the line, as these two fall with the distance";
  Units.Position onward[n - 1] "What leads to the tip, as they fall with the place along the line";
  Units.Position overlap[n - 1, 3] "Both, along their normals";
  Real normal[n - 1, 3](each unit = "1") "Direction of the push on the rope";
  Units.Position depth[n - 1] "Length of that";
  Units.Position arm[n - 1, 3] "Place of the contact from the centre of mass";
  Units.Position segment[n - 1, 3] "From a node to the next one";
  Units.Torque turn[n - 1, 3] "Torques on the target";
  Units.Velocity slip[n - 1, 3] "Velocity of the rope against the shaft";
  Units.Velocity leaving[n - 1] "What of it is along the normal";
  Units.Velocity sliding[n - 1, 3] "What of it is not";
  Units.Damping rub[n - 1] "Friction by speed";
  Units.Force given[n - 1, 3] "Force on the rope";
  Units.Stiffness gain[n - 1]
    "What the contact gains in energy along a segment, over its length squared";
  Units.Force total[n - 1, 3] "The same with the force that this gain asks for, along the segment";
  Units.Force couple[n - 1, 3]
    "And a couple of forces: on the node after it, and reversed on that before it";
equation
  when initial() then
    assert(outside*outside - (outside*D[:, 3])^2 <= (R - radius)^2,
      "the target is outside of the ring: the base of its shaft begins at x = "
      + String(outside*D[:, 1]) + " m, y = " + String(outside*D[:, 2])
      + " m; expected at most " + String(R - radius)
      + " m from the axis of the ring");
    assert(deepest < 1e-6, "the shaft begins within a rope, by " + String(deepest)
      + " m: let the target begin inside of the open ropes");
  end when;
  beta = start_a + opening + angle;
  from_a = D*{R*cos(start_a), R*sin(start_a), 0.5*height};
  from_b = D*{R*cos(beta), R*sin(beta), -0.5*height};
  around = D*{-R*sin(beta), R*cos(beta), 0};
  shape[1, :] = drag + from_a;
  shape[n, :] = drag + from_b;
  rate[1, :] = drag_rate + cross(whirl, from_a);
  rate[n, :] = drag_rate + cross(whirl, from_b) + angle_rate*around;
  t[1, :] = D*{cos(start_a + lay_a), sin(start_a + lay_a), 0};
  t[n + 1, :] = D*{cos(beta + lay_b), sin(beta + lay_b), 0};
  o[1, :] = D[:, 3];
  o[n + 1, :] = D[:, 3];
  turning[1, :] = whirl;
  turning[n + 1, :] = whirl + angle_rate*D[:, 3];
  A = Rotations.matrix(q);
  base = position + A*shaft_base;
  outside = base - drag;
  line = A*shaft_line;
  tumble = A*omega;
  for i in 1:n loop
    seen[i, :] = shape[i, :] - base;
    along[i] = seen[i, :]*line;
    aside[i, :] = seen[i, :] - along[i]*line;
  end for;
  for i in 1:n - 1 loop
    chord[i, :] = aside[i + 1, :] - aside[i, :];
    inverse_square[i] = 1/(chord[i, :]*chord[i, :] + 1e-12);
    foot[i] = -(aside[i, :]*chord[i, :])*inverse_square[i];
    share[i] = max(0, min(1, foot[i]));
    nearest[i, :] = aside[i, :] + share[i]*chord[i, :];
    distance[i] = sqrt(nearest[i, :]*nearest[i, :] + 1e-16);
    up[i] = along[i] + share[i]*(along[i + 1] - along[i]);
    before[i] = max(0, shaft_length - up[i]);
    in_shaft[i] = max(0, radius - distance[i]);
    in_head[i] = max(0, sine45*(radius + up[i] - shaft_length + head_length - distance[i]));
    on_shaft[i] = min(in_shaft[i], before[i]);
    on_head[i] = min(in_head[i], before[i]);
    outward[i] = noEvent(if in_shaft[i] < before[i] then in_shaft[i] else 0)
      + noEvent(if in_head[i] < before[i] then sine45*in_head[i] else 0);
    onward[i] = noEvent(if in_shaft[i] < before[i] then 0 else before[i])
      + noEvent(if in_head[i] < before[i] then -sine45*in_head[i] else before[i]);
    overlap[i, :] = outward[i]/distance[i]*nearest[i, :] + onward[i]*line;
    depth[i] = sqrt(overlap[i, :]*overlap[i, :] + 1e-20);
    normal[i, :] = overlap[i, :]/depth[i];
    arm[i, :] = shape[i, :] + share[i]*(shape[i + 1, :] - shape[i, :]) - position;
    slip[i, :] = rate[i, :] + share[i]*(rate[i + 1, :] - rate[i, :]) - velocity
      - cross(tumble, arm[i, :]);
    leaving[i] = slip[i, :]*normal[i, :];
    sliding[i, :] = slip[i, :] - leaving[i]*normal[i, :];
    pushes[i] = noEvent(if depth[i] > 2e-10 then max(0, k_contact*depth[i] - c_contact*leaving[i])
      else 0);
    rub[i] = min(c_stick, mu*pushes[i]/sqrt(sliding[i, :]*sliding[i, :] + 1e-16));
    given[i, :] = pushes[i]*normal[i, :] - rub[i]*sliding[i, :];
    der(impulses[i]) = pushes[i];
    gain[i] = noEvent(if foot[i] > 0 and foot[i] < 1 then -k_contact*onward[i]
      *(along[i + 1] - along[i])*inverse_square[i] else 0);
    total[i, :] = given[i, :] + gain[i]*chord[i, :];
    couple[i, :] = gain[i]*nearest[i, :];
    turn[i, :] = cross(total[i, :], arm[i, :]) + cross(couple[i, :], segment[i, :]);
    segment[i, :] = shape[i + 1, :] - shape[i, :];
  end for;
  load[1, :] = (1 - share[1])*total[1, :] - couple[1, :];
  for i in 2:n - 1 loop
    load[i, :] = share[i - 1]*total[i - 1, :] + (1 - share[i])*total[i, :]
      + couple[i - 1, :] - couple[i, :];
  end for;
  load[n, :] = share[n - 1]*total[n - 1, :] + couple[n - 1, :];
  for j in 1:3 loop
    force[j] = -sum(total[:, j]);
    torque[j] = sum(turn[:, j]);
  end for;
  ring_torque = around*force_b + D[:, 3]*torque_b;
  ring_moment = cross(from_a, force_a) + cross(from_b, force_b) + torque_a + torque_b;
  der(ring_work) = -ring_torque*angle_rate;
  der(drag_work) = -((force_a + force_b)*drag_rate + ring_moment*whirl);
  der(target_work) = -(force*velocity + torque*tumble);
  der(heat) = dissipation;
  momentum = {m_node*sum(v[:, 1]), m_node*sum(v[:, 2]), m_node*sum(v[:, 3])};
  for i in 1:n - 2 loop
    orbit[i, :] = cross(x[i, :], v[i, :]);
  end for;
  for j in 1:3 loop
    angular_momentum[j] = m_node*sum(orbit[:, j]) + J*(spin*t[2:n, j]);
  end for;
  push = sum(pushes);
  deepest = max(depth);
  nodes = shape;
  stored = 0.5*k_contact*(on_shaft*on_shaft + on_head*on_head);
  lost = -(given[:, 1]*slip[:, 1] + given[:, 2]*slip[:, 2] + given[:, 3]*slip[:, 3])
    + k_contact*(depth*leaving);
  annotation (Documentation(info = "<html>
<p>The rope of a snare (Cai, Chen, Luo and Wang, Aerospace 8, 381 (2021), section 3): end a is on the
fixed ring, end b on the rotating one. Both move with <code>drag</code>; extending classes say how they
are turned, <code>D</code>, and how fast that changes, <code>whirl</code>. Their axis is the z of that
frame. The paper's 0.26 m between the ends of an open rope is the side of a
triangle in a ring of 0.15 m, so three ropes begin 120 degrees apart. The distance of the rings is
assumed: it lets the ropes pass each other. They do not feel each other.</p>
<p>Each segment meets the shaft of the target at the one point that is nearest to the shaft's line. The
shaft ends in a cone that keeps the ropes from slipping off; in the corner between them both push, so
the force is continuous there. The tip is a flat face: what is within shaft or head is pushed out by
whichever way is shorter, by the side or by the face, so a rope that comes from beyond the tip meets the
face, and one that slips off the rim of the head is free. The push never pulls. Friction is <code>mu</code> times the push against the sliding, and at most
<code>c_stick</code> times it: a rope that sticks creeps at the speed <code>mu*push/c_stick</code> at
most. What the shaft gets acts where the rope gets it, so momentum and angular momentum stay.</p>
<p>The point that is nearest to the shaft's line moves along its segment as the rope moves, and where
the segment is not across the shaft its overlap with cone and face changes with that. The gradient of
their energy has two parts more for it: a force along the segment at the contact, and a couple of
two forces on its nodes across the shaft. With them shaft and head take no energy and give none.</p>
<p>What the rope holds is what it began with, and <code>ring_work</code>, <code>drag_work</code> and
<code>target_work</code>, without <code>heat</code>. A target that begins outside of the ring, or within a
rope, ends the run.</p>
</html>"));
end PartialSnareRope;
