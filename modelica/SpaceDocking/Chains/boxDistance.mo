within SpaceDocking.Chains;
function boxDistance "Distance of a box from the point of a line that is nearest to it, or deepest in it"
  input Real a[3] "Start of the line, from the centre of the box along its edges, m";
  input Real b[3] "End of the line, m";
  input Real edges[3] "Lengths of the edges of the box, m";
  output Real distance "Signed distance, negative inside the box, m";
protected
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
  for k in 0:48 loop
    share[1] := if k == 0 then 0 else high - golden*(high - low);
    share[2] := if k == 0 then 1 else low + golden*(high - low);
    for j in 1:2 loop
      outside := 0;
      for i in 1:3 loop
        beyond[i] := abs(a[i] + share[j]*(b[i] - a[i])) - 0.5*edges[i];
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
  annotation (Documentation(info = "<html>
<p>The signed distance of a point from a convex body is a convex function of the point: its least value
along a line is found by sections in the golden ratio (Kiefer, Sequential minimax search for a maximum,
1953), to 1e-10 of its length. A capsule with that axis is in the box where the distance is less than its
radius.</p>
</html>"));
end boxDistance;
