"""Identification: blocks that identify stiffness and damping of a contact while it acts."""
