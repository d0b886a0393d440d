"""Wire ropes: their statics, and blocks that replace a rope in an impact."""
