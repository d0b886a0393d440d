"""What a run with devices has beside stepping."""
