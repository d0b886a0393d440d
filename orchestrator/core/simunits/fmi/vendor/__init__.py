"""Code of others, unchanged."""
