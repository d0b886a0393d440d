within SpaceDocking.Chains;
function startDepths "How deep the links of a chain are in a box below its base"
  input Real axis[:, 3] "Axes of the joints, unit vectors";
  input Real offset[size(axis, 1), 3] "Origins of the frames, each in the frame before it, m";
  input Real phi[size(axis, 1)] "Joint angles, rad";
  input Real tip[3] "End of the chain, in the frame of the last link, m";
  input Real radius[size(axis, 1)] "Radii of the links, capsules from joint to joint, m";
  input Real edges[3] "Lengths of the edges of the box along the axes of the base, m";
  output Real depth[size(axis, 1)] "How deep, negative outside, m";
protected
  Integer n = size(axis, 1) "Number of joints";
  Real position[n + 1, 3] "Origins of the frames, in the frame of the base, m";
  Real attitude[n + 1, 4] "Unit quaternions of the frames, scalar first";
  Real ends[n, 3] "Ends of the links, m";
algorithm
  (position, attitude) := linkFrames(axis, offset, phi, {0, 0, 0}, {1, 0, 0, 0});
  for i in 1:n loop
    ends[i, :] := if i < n then position[min(i + 2, n + 1), :]
      else position[n + 1, :] + Rotations.matrix(attitude[n + 1, :])*tip;
    depth[i] := boxDepth(position[i + 1, :], ends[i, :], radius[i], edges);
  end for;
  annotation (Documentation(info = "<html>
<p>The axis of a link goes from its joint to the next one, that of the last link to the end of the chain.
Called with the angles at the start it depends on parameters only, so nothing of it is left in a run.</p>
</html>"));
end startDepths;
