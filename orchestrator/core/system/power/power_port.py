"""A power port: connectors that are one physical connection, an effort and a flow."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from orchestrator.core.diagnostics import DescriptionError


class Positive(StrEnum):
    """Where the power goes whose number, effort times flow, is positive."""

    IN = "in"
    OUT = "out"


@dataclass(frozen=True, slots=True)
class PowerPort:
    """Connectors of a component or system that are connected as one.

    Its power is the sum of all efforts times their flows. A force, torque, voltage or pressure is
    an effort; a velocity, current or volume flow is a flow. A wrench and a twist are two of each:
    ``effort=("force", "torque")``, ``flow=("velocity", "angular_velocity")``.

    Parameters
    ----------
    name
        Unique among the power ports of its component.
    effort, flow
        Names of connectors, as many of one as of the other; each effort goes with the flow at the
        same place.
    displacement
        Connectors that go along with the flow, such as a position.
    frame
        In which the elements of arrays are; ``None`` if that is not said.
    positive
        Whether effort times flow is a power into the component or out of it. Unless told, into it
        where it takes the effort (a force that acts on it), out of it where it gives the effort (a
        force that acts on the other).

    Raises
    ------
    DescriptionError
        If there is no effort, or not as many flows, or a connector is named twice.
    """

    name: str
    effort: tuple[str, ...]
    flow: tuple[str, ...]
    displacement: tuple[str, ...] = ()
    frame: str | None = None
    positive: Positive | None = None

    def __post_init__(self) -> None:
        where = f"power port '{self.name}'"
        if not self.effort or len(self.effort) != len(self.flow):
            raise DescriptionError(
                f"{where}: expected as many efforts as flows, at least one; found"
                f" {len(self.effort)} and {len(self.flow)}"
            )
        twice = sorted({name for name in self.connectors if self.connectors.count(name) > 1})
        if twice:
            raise DescriptionError(f"{where}: names the connector {', '.join(twice)} twice")

    @property
    def connectors(self) -> tuple[str, ...]:
        """All connectors that it names."""
        return *self.effort, *self.flow, *self.displacement

    @classmethod
    def of(
        cls,
        name: str,
        effort: str | tuple[str, ...],
        flow: str | tuple[str, ...],
        *,
        displacement: str | tuple[str, ...] = (),
        frame: str | None = None,
        positive: Positive | str | None = None,
    ) -> PowerPort:
        """Make a port of single names or several."""
        told = None if positive is None else _positive(name, positive)
        return cls(name, _several(effort), _several(flow), _several(displacement), frame, told)


def _positive(name: str, text: str) -> Positive:
    if text not in set(Positive):
        raise DescriptionError(
            f"power port '{name}': positive: expected one of {', '.join(Positive)}, found '{text}'"
        )
    return Positive(text)


def _several(names: str | tuple[str, ...]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)
