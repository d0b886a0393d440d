within SpaceDocking;
package NormalContacts "Laws of normal contact with the same ports, to be put in each other's place"
  annotation (Documentation(info = "<html>
<p>Each law is given a coefficient of restitution; what it gives back is another number for most.
<code>k</code> is the elastic force at a depth of 1 m, so it is in N/m for every exponent and has
the value of <code>k</code> in <code>k*delta^n</code>.</p>
</html>"));
end NormalContacts;
