"""One run of a case: its options, what it records, its checkpoints."""
