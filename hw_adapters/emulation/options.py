"""Types of the options of emulators."""

from __future__ import annotations

import argparse
import math

Address = tuple[str, int]


def address(text: str) -> Address:
    """Read ``HOST:PORT``.

    Raises
    ------
    ArgumentTypeError
        If it is none.
    """
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise argparse.ArgumentTypeError(f"expected HOST:PORT, found '{text}'")
    return host, int(port)


def positive(text: str) -> float:
    """Read a finite number > 0.

    Raises
    ------
    ArgumentTypeError
        If it is none.
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0.0):
        raise argparse.ArgumentTypeError(f"expected a number > 0, found '{text}'")
    return value
