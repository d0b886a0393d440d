"""Trials of a supervised rig: what goes wrong while it runs, and what comes of it."""
