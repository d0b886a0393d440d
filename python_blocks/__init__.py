"""Blocks of the docking loop that are written in Python."""
