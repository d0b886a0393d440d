"""Contact: blocks that turn the relative motion of two bodies into the force between them."""
