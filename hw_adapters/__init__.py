"""Device adapters, one module per wire protocol."""
