"""Editing of SSP files in place: only the bytes of the change change."""
