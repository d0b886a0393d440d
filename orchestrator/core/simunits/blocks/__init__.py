"""Python blocks: how they are declared, found and stepped."""
