"""Units in processes of their own: messages, and the side of whoever steps them."""
