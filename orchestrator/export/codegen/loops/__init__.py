"""Functions as C code with loops over arrays, which compilers turn into vector instructions."""
