"""From a case, or a point of a sweep, to the system that runs."""
