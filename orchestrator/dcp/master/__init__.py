"""A DCP master of one slave: the link to it, the talk with it, and running it."""
