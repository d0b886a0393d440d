"""The front end: from Modelica sources, by rumoca, to a residual DAE."""
