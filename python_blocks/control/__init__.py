"""Blocks for control."""
