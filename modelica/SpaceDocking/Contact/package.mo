within SpaceDocking;
package Contact "Contact between probe and base of a docking interface"
  annotation (Documentation(info = "<html>
<p>Massless elements: their forces follow from the present positions and velocities, so they feed
through directly. The two balls have their own floor.</p>
</html>"));
end Contact;
