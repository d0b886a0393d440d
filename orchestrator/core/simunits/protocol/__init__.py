"""The protocol of everything that a master can step, and what a unit says of itself."""
