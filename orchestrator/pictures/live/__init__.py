"""A run while it goes on, and a recording as it is played: one page, served to browsers."""
