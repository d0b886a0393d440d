"""Guards: they bring a rig to rest, and say why, when a signal cannot be believed any more."""
