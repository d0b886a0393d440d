"""Physical units: their notation, their meaning, and conversions between them."""
