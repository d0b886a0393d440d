"""Options that several emulators have, and their types."""

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
    value = _number(text)
    if not (math.isfinite(value) and value > 0.0):
        raise argparse.ArgumentTypeError(f"expected a number > 0, found '{text}'")
    return value


def not_negative(text: str) -> float:
    """Read a finite number >= 0.

    Raises
    ------
    ArgumentTypeError
        If it is none.
    """
    value = _number(text)
    if not (math.isfinite(value) and value >= 0.0):
        raise argparse.ArgumentTypeError(f"expected a number >= 0, found '{text}'")
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def add_tracking_options(parser: argparse.ArgumentParser, *, delay_ms: float = 0.0) -> None:
    """Add the options of :class:`~hw_adapters.emulation.tracking.Tracking`."""
    parser.add_argument(
        "--delay",
        type=not_negative,
        default=delay_ms,
        help="delay from a command to its effect, ms (default: %(default)s)",
    )
    parser.add_argument(
        "--bandwidth",
        type=positive,
        help="bandwidth of the lag after the delay, Hz (default: no lag)",
    )
    parser.add_argument(
        "--damping",
        type=positive,
        help="damping ratio of a second-order lag (default: first order)",
    )
