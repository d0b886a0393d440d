"""Physical units in the notation of Modelica and FMI: read, converted and defined."""
