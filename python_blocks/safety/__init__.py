"""Guards: they bring a rig to rest and report the cause when a signal is invalid."""
