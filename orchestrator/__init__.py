"""Softdock: co-simulation for rigs that dock hardware against simulated spacecraft."""
