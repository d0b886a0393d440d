"""Commands that analyse loops and delays."""
