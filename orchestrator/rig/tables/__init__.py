"""Tables of experiments that say of rigs."""
