"""What a drawing is made of, and its pictures."""
