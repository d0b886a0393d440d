"""Commands that edit a system in its file."""
