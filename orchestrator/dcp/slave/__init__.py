"""A DCP slave: the machine that answers a master, the sockets around it, the model inside."""
