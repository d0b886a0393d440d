"""The base of devices that have no clock of their own: a run steps them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orchestrator.core.system import Connector, Value


@dataclass(frozen=True, slots=True)
class SteppedConnectors:
    """What a stepped device takes and gives.

    Parameters
    ----------
    connectors
        Inputs and outputs.
    feedthrough
        For each output the inputs that act on it at once, when it is initialised.
    step
        In s, of which every step is a whole multiple; ``None``: any step.
    """

    connectors: tuple[Connector, ...]
    feedthrough: Mapping[str, tuple[str, ...]]
    step: float | None = None


class SteppedDevice(ABC):
    """A device, or another tool, that computes when it is told to, and that a run waits for.

    Its values are exact: no sample is late, lost or old. Errors are ``DeviceError`` or ``OSError``.
    """

    @abstractmethod
    def connectors(self) -> SteppedConnectors:
        """Return what it takes and gives; nothing is opened for it."""

    @abstractmethod
    def open(self) -> None:
        """Connect to the device and configure it."""

    @abstractmethod
    def set(self, name: str, value: Value | Sequence[Value]) -> None:
        """Hold the value of an input until the next step, an array as its elements row by row."""

    @abstractmethod
    def get(self, name: str) -> Value | Sequence[Value]:
        """Return an output, consistent with the inputs while the device is being initialised."""

    @abstractmethod
    def begin(self) -> None:
        """End the initialisation."""

    @abstractmethod
    def step(self, time: float, step: float) -> None:
        """Let the device compute from a time on, in s, and wait for its outputs."""

    @abstractmethod
    def close(self) -> None:
        """Disconnect; also after an :meth:`open` that failed, and more than once."""

    @abstractmethod
    def account(self) -> str:
        """Say what it was, and what its delay is, for the report of a run."""
