"""What an adapter brings along to be held to the suite: its emulator, and bytes known by heart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Golden:
    """Bytes, or what they mean, that stand in a document or were seen on a wire.

    Parameters
    ----------
    name
        What it is.
    found
        Makes it, by the codec of the adapter.
    expected
        What it must be.
    """

    name: str
    found: Callable[[], object]
    expected: object


@dataclass(frozen=True, slots=True)
class Refused:
    """Bytes that are not of the protocol.

    Parameters
    ----------
    name
        What is wrong with them.
    read
        Reads them, by the codec of the adapter; it must raise ``WireFormatError``.
    """

    name: str
    read: Callable[[], object]


@dataclass(frozen=True, slots=True)
class Wiring:
    """How an emulator and an adapter reach each other, both on this machine.

    Parameters
    ----------
    arguments
        Of the emulator.
    settings
        Of the adapter.
    """

    arguments: tuple[str, ...]
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Logged:
    """Where a scalar signal stands in the log of an emulator (``--log``).

    Parameters
    ----------
    event, column
        Rows and column of it.
    scale
        What a value is multiplied by to have the unit of the signal.
    where
        What a row must have besides: a column and its text; ``None``: nothing.
    """

    event: str
    column: str
    scale: float = 1.0
    where: tuple[str, str] | None = None

    def is_in(self, row: Mapping[str, str]) -> bool:
        """Whether a row, cells by column, tells it."""
        marked = self.where is None or row.get(self.where[0]) == self.where[1]
        return row["event"] == self.event and marked and bool(row.get(self.column))


#: Of settings of an adapter: where its signals stand in the log, elements as ``name[0]``.
LoggedSignals = Callable[[Any], Mapping[str, Logged]]


def _nothing(settings: object) -> Mapping[str, Logged]:
    del settings
    return {}


@dataclass(frozen=True, slots=True)
class Bench:
    """A test bench of one adapter: the entry point ``softdock.device_benches`` of its name.

    Parameters
    ----------
    emulator
        Module that is run as a program of its own. It prints one line when it can be reached, ends
        at SIGTERM with exit code 0, and takes ``--fault FAULT`` (``drop:P``, ``late:MS``,
        ``duplicate:P``, ``reorder:P``, ``malformed:P``, ``dead-after:S``, ``restart-after:S``,
        ``wrong-status``, ``freeze``, ``nan``, ``saturated``, ``clock-jump:S``), the same from
        SIGUSR1 on with ``--on-signal FAULT``, ``--log FILE``,
        ``--seed N`` and ``--json``.
    wiring
        Makes a wiring on free ports, another one at each call.
    golden, refused
        At least one of each.
    without
        Faults that its protocol cannot have, and why.
    follows
        It has something that follows commands, and takes ``--on-signal slower:MS`` as well.
    wraps
        Its count or clock runs over, and it takes ``--fault wrap-after:S`` as well.
    newest_only
        It holds the newest sample only, so that a slow reader passes over some.
    truth
        What the emulator's log says of outputs, without any fault of the wire.
    asked
        The same of inputs: the command as it came over the wire.
    """

    emulator: str
    wiring: Callable[[], Wiring]
    golden: tuple[Golden, ...]
    refused: tuple[Refused, ...]
    without: Mapping[str, str] = field(default_factory=dict)
    follows: bool = False
    wraps: bool = False
    newest_only: bool = False
    truth: LoggedSignals = _nothing
    asked: LoggedSignals = _nothing
