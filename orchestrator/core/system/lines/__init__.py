"""Connections, and what stands on their lines: transformations, delays, faults."""
