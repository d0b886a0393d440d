"""What the terminal shows, and how a command ends."""
