within SpaceDocking;
package Examples "Closed models that run on their own"
  annotation (Documentation(info = "<html>
<p>References for co-simulations: the same plants, coupled without any step or delay.</p>
</html>"));
end Examples;
