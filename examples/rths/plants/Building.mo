model Building "three storeys of four columns that move in their plane, and in the computer"
  parameter Real out(unit="1") = 1 "1: without what stands in the laboratory, 0: all of it";
  parameter Real height(unit="m") = 0.635 "Of a storey";
  parameter Real bay(unit="m") = 0.762 "Between columns";
  parameter Real floor[3](each unit="kg") = {7680.90291732432, 11496.0076367116, 11465.7169564906}
    "Mass that moves sideways";
  parameter Real side[3](each unit="kg") = {1921.04971948877, 1921.04971948877, 1913.47704943351}
    "Mass that the outer columns bear";
  parameter Real middle[3](each unit="kg") = {1919.40173917339, 3826.95409886702, 3819.38142881177}
    "Mass that the inner columns bear";
  parameter Real axial(unit="N/m") = 956823067.560476 "Column by its length";
  parameter Real column_near(unit="N.m/rad") = 7260320.053046 "Column, by the turn of the same end";
  parameter Real column_far(unit="N.m/rad") = 1650848.87629651 "Column, by the turn of the other end";
  parameter Real beam_near(unit="N.m/rad") = 117193.9122696 "Beam, by the turn of the same end";
  parameter Real beam_far(unit="N.m/rad") = 56931.6536843576 "Beam, by the turn of the other end";
  parameter Real tested_axial(unit="N/m") = 337224256.337347 "Of the columns that the laboratory has";
  parameter Real tested_beam_near(unit="N.m/rad") = 468013.283560452 "Of the beam between them";
  parameter Real tested_beam_far(unit="N.m/rad") = 226110.978301546 "Of the beam between them";
  parameter Real second_base(unit="N.m/rad") = 964583.963790092 "Second column, by the turn of its foot";
  parameter Real second_head(unit="N.m/rad") = 2141.698447 "Second column, by the turn of its head";
  parameter Real second_far(unit="N.m/rad") = 45451.6003880148 "Second column, from end to end";
  parameter Real third_near(unit="N.m/rad") = 1117375.20062434 "Third column, by the turn of the same end";
  parameter Real third_far(unit="N.m/rad") = 462063.13558434 "Third column, from end to end";
  parameter Real by_mass(unit="1/s") = 1.2473801 "Damping by mass";
  parameter Real by_stiffness(unit="s") = 5.59867e-4 "Damping by stiffness";
  parameter Real out_mass(unit="kg") = 0 "In the laboratory";
  parameter Real out_turn_mass(unit="kg.m2") = 0 "In the laboratory, for its damping alone";
  parameter Real out_xx(unit="N/m") = 0 "Stiffness in the laboratory";
  parameter Real out_xt(unit="N/rad") = 0 "Stiffness in the laboratory";
  parameter Real out_tt(unit="N.m/rad") = 0 "Stiffness in the laboratory";
  parameter Real out_tf(unit="N.m/rad") = 0 "Stiffness in the laboratory";
  parameter Real out_by_mass(unit="1/s") = 0 "Damping in the laboratory by mass";
  parameter Real out_by_stiffness(unit="s") = 0 "Damping in the laboratory by stiffness";
  input Real ground(unit="m/s2", start=0) "Acceleration of the ground";
  input Real force(unit="N", start=0) "What the laboratory measures, against the floor's motion";
  input Real moment(unit="N.m", start=0) "The same of the joint that is moved";
  input Real far_moment(unit="N.m", start=0) "The same of the joint beside it";
  output Real position(unit="m") "Of the first floor, from the ground";
  output Real rotation(unit="rad") "Of the joint that is moved";
  output Real second(unit="m") "Position of the second floor";
  output Real second_rotation(unit="rad") "Of its last joint";
  output Real third(unit="m") "Position of the third floor";
  output Real third_rotation(unit="rad") "Of its last joint";
protected
  Real x[3](each unit="m", each start=0, each fixed=true) "Floors";
  Real v[3](each unit="m/s", each start=0, each fixed=true);
  Real y[3, 4](each unit="m", each start=0, each fixed=true) "Joints, upwards";
  Real w[3, 4](each unit="m/s", each start=0, each fixed=true);
  Real q[3, 4](each unit="rad", each start=0, each fixed=true) "Joints, turned";
  // Springs with dampers by their stiffness: of a motion and its rate times by_stiffness.
  Real e[3](each unit="m") "Floors";
  Real f[3, 4](each unit="m") "Joints upwards";
  Real t[3, 4](each unit="rad") "Joints turned";
  Real foot[4](each unit="rad") "Feet of the lowest columns turned: two are clamped, two bear no moment";
  Real second_foot(unit="rad");
  Real third_foot(unit="rad");
  Real near[4](each unit="N.m/rad") "Lowest columns, by the turn of their feet";
  Real head[4](each unit="N.m/rad") "By the turn of their heads";
  Real far[4](each unit="N.m/rad") "From end to end";
  Real along[4](each unit="N/m") "By their length";
  Real low_1[4](each unit="N.m") "Moment at the foot of a lowest column";
  Real high_1[4](each unit="N.m") "Moment at its head";
  Real low[2, 4](each unit="N.m") "Moment at the foot of a column above";
  Real high[2, 4](each unit="N.m") "Moment at its head";
  Real press[2, 4](each unit="N") "Force along it";
  Real left[3, 3](each unit="N.m") "Moment at the left end of a beam";
  Real right[3, 3](each unit="N.m") "Moment at its right end";
  Real lift[3, 3](each unit="N") "Force at its right end";
  Real shear[3](each unit="N") "Of all columns of a storey";
  Real out_t[2](each unit="rad");
  Real out_force(unit="N");
  Real out_moment[2](each unit="N.m");
equation
  near = {column_near, second_base, third_near, column_near};
  head = {column_near, second_head, third_near, column_near};
  far = {column_far, second_far, third_far, column_far};
  along = {axial, tested_axial, tested_axial, axial};
  foot = {0, second_foot, third_foot, 0};
  for i in 1:3 loop
    der(x[i]) = v[i];
    e[i] = x[i] + by_stiffness*v[i];
    for j in 1:4 loop
      der(y[i, j]) = w[i, j];
      f[i, j] = y[i, j] + by_stiffness*w[i, j];
      der(q[i, j]) = (t[i, j] - q[i, j])/by_stiffness;
    end for;
  end for;
  for j in 1:4 loop
    high_1[j] = head[j]*t[1, j] + far[j]*foot[j] - (head[j] + far[j])/height*e[1];
    low_1[j] = near[j]*foot[j] + far[j]*t[1, j] - (near[j] + far[j])/height*e[1];
    for i in 1:2 loop
      high[i, j] = column_near*t[i + 1, j] + column_far*t[i, j]
        - (column_near + column_far)/height*(e[i + 1] - e[i]);
      low[i, j] = column_near*t[i, j] + column_far*t[i + 1, j]
        - (column_near + column_far)/height*(e[i + 1] - e[i]);
      press[i, j] = axial*(f[i + 1, j] - f[i, j]);
    end for;
  end for;
  low_1[2] = 0;
  low_1[3] = 0;
  shear = -{sum(high_1) + sum(low_1), sum(high[1, :]) + sum(low[1, :]), sum(high[2, :]) + sum(low[2, :])}/height;
  for i in 1:3 loop
    for k in 1:3 loop
      left[i, k] = (if i == 1 and k == 2 then tested_beam_near else beam_near)*t[i, k]
        + (if i == 1 and k == 2 then tested_beam_far else beam_far)*t[i, k + 1]
        + (if i == 1 and k == 2 then tested_beam_near + tested_beam_far else beam_near + beam_far)
        /bay*(f[i, k + 1] - f[i, k]);
      right[i, k] = (if i == 1 and k == 2 then tested_beam_near else beam_near)*t[i, k + 1]
        + (if i == 1 and k == 2 then tested_beam_far else beam_far)*t[i, k]
        + (if i == 1 and k == 2 then tested_beam_near + tested_beam_far else beam_near + beam_far)
        /bay*(f[i, k + 1] - f[i, k]);
      lift[i, k] = (left[i, k] + right[i, k])/bay;
    end for;
  end for;
  // What the laboratory has is not in the computer.
  for k in 1:2 loop
    out_t[k] = q[1, k + 1] + out_by_stiffness*der(q[1, k + 1]);
    out_moment[k] = out*(out_xt*(x[1] + out_by_stiffness*v[1]) + (out_tt - out_tf)*out_t[k]
      + out_tf*sum(out_t) + out_by_mass*out_turn_mass*der(q[1, k + 1]));
  end for;
  out_force = out*(out_xx*(x[1] + out_by_stiffness*v[1]) + out_xt*sum(out_t) + out_by_mass*out_mass*v[1]);
  // Floors
  der(v) = {(shear[2] - shear[1] - by_mass*floor[1]*v[1] + out_force - force)/(floor[1] - out*out_mass),
    (shear[3] - shear[2])/floor[2] - by_mass*v[2], -shear[3]/floor[3] - by_mass*v[3]} - {ground, ground, ground};
  // Joints, upwards
  der(w) = -by_mass*w + {
    {(press[1, 1] - along[1]*f[1, 1] + lift[1, 1])/side[1],
     (press[1, 2] - along[2]*f[1, 2] + lift[1, 2] - lift[1, 1])/middle[1],
     (press[1, 3] - along[3]*f[1, 3] + lift[1, 3] - lift[1, 2])/middle[1],
     (press[1, 4] - along[4]*f[1, 4] - lift[1, 3])/side[1]},
    {(press[2, 1] - press[1, 1] + lift[2, 1])/side[2],
     (press[2, 2] - press[1, 2] + lift[2, 2] - lift[2, 1])/middle[2],
     (press[2, 3] - press[1, 3] + lift[2, 3] - lift[2, 2])/middle[2],
     (press[2, 4] - press[1, 4] - lift[2, 3])/side[2]},
    {(lift[3, 1] - press[2, 1])/side[3], (lift[3, 2] - lift[3, 1] - press[2, 2])/middle[3],
     (lift[3, 3] - lift[3, 2] - press[2, 3])/middle[3], (-lift[3, 3] - press[2, 4])/side[3]}};
  // Joints have no moment of inertia.
  0 = high_1[1] + low[1, 1] + left[1, 1];
  0 = high_1[2] + low[1, 2] + right[1, 1] + left[1, 2] + far_moment - out_moment[1];
  0 = high_1[3] + low[1, 3] + right[1, 2] + left[1, 3] + moment - out_moment[2];
  0 = high_1[4] + low[1, 4] + right[1, 3];
  0 = high[1, 1] + low[2, 1] + left[2, 1];
  0 = high[1, 2] + low[2, 2] + right[2, 1] + left[2, 2];
  0 = high[1, 3] + low[2, 3] + right[2, 2] + left[2, 3];
  0 = high[1, 4] + low[2, 4] + right[2, 3];
  0 = high[2, 1] + left[3, 1];
  0 = high[2, 2] + right[3, 1] + left[3, 2];
  0 = high[2, 3] + right[3, 2] + left[3, 3];
  0 = high[2, 4] + right[3, 3];
  position = x[1];
  rotation = -q[1, 3];
  second = x[2];
  second_rotation = q[2, 4];
  third = x[3];
  third_rotation = q[3, 4];
end Building;
