"""Kinematics: parallel robots, attitudes, and the points of a docking rig that they move."""
