"""Systems in systems: put together, taken apart, made flat."""
