"""Twins as simulation units: an FMU or block with delay, lag, noise and rounding of a device."""
