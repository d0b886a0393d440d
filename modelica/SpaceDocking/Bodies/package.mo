within SpaceDocking;
package Bodies "Free-floating spacecraft"
  annotation (Documentation(info = "<html>
<p>Spacecraft as rigid bodies that float without gravity or drag over the duration of a contact.</p>
</html>"));
end Bodies;
