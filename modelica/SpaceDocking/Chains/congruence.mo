within SpaceDocking.Chains;
function congruence "Symmetric matrix of a turned frame in the outer frame"
  input Real R[3, 3] "Turns vectors into the outer frame";
  input Real A[3, 3] "Symmetric matrix";
  output Real B[3, 3] "R*A*transpose(R), symmetric bit by bit";
protected
  Real P[3, 3] "R*A";
algorithm
  P := R*A;
  for j in 1:3 loop
    for k in 1:3 loop
      if k <= j then
        B[j, k] := P[j, :]*R[k, :];
        B[k, j] := B[j, k];
      end if;
    end for;
  end for;
  annotation (Documentation(info = "<html>
<p>Only one triangle is computed.</p>
</html>"));
end congruence;
