"""Recordings as simulation units: the outputs of a component as they were."""
