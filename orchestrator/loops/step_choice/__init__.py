"""Choice of the communication step: the largest one that leaves every loop as it is."""
