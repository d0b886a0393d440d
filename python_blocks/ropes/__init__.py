"""Wire ropes: their statics, and blocks that stand for a rope in an impact."""
