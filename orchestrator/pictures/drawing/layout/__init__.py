"""Where boxes and lines of a drawing lie."""
