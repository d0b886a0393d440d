"""Runs: units are instantiated, initialised, stepped, recorded and saved."""
