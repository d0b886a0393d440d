"""Rigs: devices in the place of units, what is found out about them, who brings them to rest."""
