"""Delay and gain of devices, tracked while they run."""
