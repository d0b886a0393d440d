"""What a slave computes with: the inside of the protocol."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from orchestrator.dcp.payload import Values


class SlaveModel(ABC):
    """A model behind a slave; variables go by their value reference, values row by row.

    Its errors (``SoftdockError``) lead the slave into the error superstate.
    """

    @abstractmethod
    def configure(self, parameters: Mapping[int, Values]) -> None:
        """Make the model anew, with the parameters that were set."""

    @abstractmethod
    def set(self, reference: int, values: Values) -> None:
        """Set an input, or a tunable parameter."""

    @abstractmethod
    def get(self, reference: int) -> Values:
        """Return an output."""

    @abstractmethod
    def initialise(self) -> None:
        """Make the outputs consistent with the inputs at the start time; it may be asked again."""

    @abstractmethod
    def begin(self) -> None:
        """End the initialisation: time may pass from here on."""

    @abstractmethod
    def step(self, begin_ns: int, end_ns: int) -> None:
        """Compute from one time to another, in ns from the start, with the inputs held."""

    @abstractmethod
    def close(self) -> None:
        """End the model; allowed at any time and more than once."""
