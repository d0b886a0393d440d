"""rumoca, the Modelica front end, in a process of its own."""
