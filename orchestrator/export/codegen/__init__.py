"""Generated C: sizes, tables and functions of a model, and the compiler of its library."""
