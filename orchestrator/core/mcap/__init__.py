"""MCAP files: rows of signals by component as JSON, with what is known of them."""
