"""The core: graphs of systems, the units they become, how these are coupled, run and recorded."""
