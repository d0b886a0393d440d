"""What the length of the communication step does to a run: the run again with H/2 and H/4."""
