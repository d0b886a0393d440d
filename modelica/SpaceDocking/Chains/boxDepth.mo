within SpaceDocking.Chains;
function boxDepth "How deep a capsule is in a box with its top at the origin"
  input Real a[3] "Start of the axis, from the centre of the top along the edges, m";
  input Real b[3] "End of the axis, m";
  input Real radius "Radius of the capsule, m";
  input Real edges[3] "Lengths of the edges of the box, m; no box if one is zero";
  output Real depth "How deep, negative outside, m";
protected
  Real distance "Least signed distance of a point of the axis, m";
  constant Real golden = 0.61803398874989485 "Golden ratio";
  Real low "Share of the line that the nearest point is beyond";
  Real high "Share of the line that the nearest point is before";
  Real share[2] "Two shares between them";
  Real value[2] "Signed distances there";
  Real beyond[3] "How far a point is beyond the faces, m";
  Real outside "Square of the distance of a point outside, m2";
algorithm
  low := 0;
  high := 1;
  distance := 0;
  for k in 0:24 loop
    share[1] := if k == 0 then 0 else high - golden*(high - low);
    share[2] := if k == 0 then 1 else low + golden*(high - low);
    for j in 1:2 loop
      outside := 0;
      for i in 1:3 loop
        beyond[i] := abs(a[i] + share[j]*(b[i] - a[i])
          + (if i == 3 then 0.5*edges[i] else 0)) - 0.5*edges[i];
        outside := outside + max(beyond[i], 0)^2;
      end for;
      value[j] := sqrt(outside) + min(max(max(beyond[1], beyond[2]), beyond[3]), 0);
    end for;
    distance := if k == 0 then min(value[1], value[2])
      else min(distance, min(value[1], value[2]));
    if k > 0 then
      if value[1] <= value[2] then
        high := share[2];
      else
        low := share[1];
      end if;
    end if;
  end for;
  depth := if min(min(edges[1], edges[2]), edges[3]) > 0 then radius - distance else -1;
  annotation (Documentation(info = "<html>
<p>The signed distance of a point from a convex body is a convex function of the point: its least value
along the axis is found by sections in the golden ratio (Kiefer, Sequential minimax search for a maximum,
1953), to 1e-5 of its length.</p>
</html>"));
end boxDepth;
