"""Compensation: blocks that take the delay of a rig out of its contact force."""
