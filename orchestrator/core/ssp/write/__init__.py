"""Writing of systems, parameter sets, dictionaries and packages."""
