"""Where a unit is between its instantiation and its end."""

from __future__ import annotations

from enum import IntEnum


class Phase(IntEnum):
    """Phases of a unit, from its instantiation to its end."""

    INSTANTIATED = 0
    INITIALISING = 1
    STEPPING = 2
    TERMINATED = 3
