"""Algorithms by how they choose their steps; one that varies them has its name here."""

from orchestrator import algorithm_names

#: Those that choose the lengths of their steps, and those whose steps are all of one length.
VARYING = ("ecco", "embedded", "step-doubling")
FIXED = [name for name in algorithm_names() if name not in VARYING]
