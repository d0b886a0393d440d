"""Slaves of the Distributed Co-Simulation Protocol, DCP 1.0."""
