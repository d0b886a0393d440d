"""Closed loops of a system, and rings of any directed graph."""
