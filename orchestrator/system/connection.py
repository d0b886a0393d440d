"""A connection: a signal from one output to one input, with what stands on the line."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.errors import DescriptionError
from orchestrator.system.delay import TransportDelay


@dataclass(frozen=True, slots=True, order=True)
class Endpoint:
    """One end of a connection."""

    component: str
    connector: str

    @classmethod
    def parse(cls, text: str) -> Endpoint:
        """Read ``"component.connector"`` (the connector's own name may hold dots)."""
        component, dot, connector = text.partition(".")
        if not (component and dot and connector):
            raise DescriptionError(f"expected 'component.connector', found '{text}'")
        return cls(component, connector)

    def __str__(self) -> str:
        return f"{self.component}.{self.connector}"


@dataclass(frozen=True, slots=True)
class LinearTransformation:
    """``target = factor * source + offset``, applied after the unit conversion (SSP 1.0, 5.3.2)."""

    factor: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class Connection:
    """A directed signal line."""

    source: Endpoint
    target: Endpoint
    delay: TransportDelay | None = None
    transformation: LinearTransformation | None = None

    def __str__(self) -> str:
        return f"{self.source} -> {self.target}"
