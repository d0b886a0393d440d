"""Files that others wrote, read within bounds: archives, columns of numbers, MAT, MCAP, TOML."""
