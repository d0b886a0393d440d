"""The Distributed Co-Simulation Protocol, DCP 1.0: bytes, states, descriptions, slaves, masters."""
