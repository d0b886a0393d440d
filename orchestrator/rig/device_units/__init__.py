"""Devices as simulation units: a process for the wire of each, and a unit that never waits."""
