"""Programs on the same machine, by shared memory: the newest sample, read without a lock."""
