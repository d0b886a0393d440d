"""The checks of the catalogue, one subject each."""
