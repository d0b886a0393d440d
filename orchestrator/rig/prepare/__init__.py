"""Cases with devices, before they are run."""
