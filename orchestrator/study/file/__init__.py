"""The experiment file: its tables as data, and messages for what does not fit them."""
