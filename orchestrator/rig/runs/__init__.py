"""Extensions of a run with devices: its emulators and its supervisor."""
