"""What hardware adds to a system: twins, the delays of lines, cases that run with devices."""
