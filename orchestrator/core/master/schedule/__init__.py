"""Compilation: a system and a plan become tables that the engine executes."""
