"""FMUs of FMI 1.0, 2.0 and 3.0: their descriptions, and the units that step them."""
