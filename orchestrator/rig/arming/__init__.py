"""Whether a rig may be armed: margins of its loops, with identified models in place of devices."""
