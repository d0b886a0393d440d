"""Connectors of components, and conversion between two of them."""
