"""Certificates: what the rule of exchange of any master does to the loops of a system."""
