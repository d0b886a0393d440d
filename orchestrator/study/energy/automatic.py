"""A ledger of what a system's connections say: power ports that are connected to each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from orchestrator.core.system import (
    Causality,
    Component,
    Positive,
    PowerPort,
    System,
    power_ports,
    product_of,
)
from orchestrator.study.energy.plan import (
    Account,
    Bond,
    Interface,
    LedgerPlan,
    LedgerPort,
    Motion,
    Stage,
)

#: Outputs that say what an account asks for, by their name, and in which unit.
_OUTPUTS = {
    "stored": ("energy", "J"),
    "dissipated": ("dissipation", "W"),
    "given": ("exchange", "W"),
}


@dataclass(frozen=True, slots=True)
class _Place:
    """A power port of a component."""

    component: Component
    port: PowerPort

    @property
    def name(self) -> str:
        return f"{self.component.name}.{self.port.name}"

    def at(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(f"{self.component.name}.{name}" for name in names)

    @property
    def takes_effort(self) -> bool:
        effort = self.component.connectors[self.port.effort[0]]
        return effort.causality is Causality.INPUT

    @property
    def positive(self) -> Positive:
        return self.port.positive or (Positive.IN if self.takes_effort else Positive.OUT)

    @property
    def bond(self) -> Bond:
        port = self.port
        along = self.at(port.displacement)
        fitting = along if all(self._goes_along(i) for i in range(len(along))) else ()
        return Bond(self.at(port.effort), Motion(self.at(port.flow), fitting))

    def _goes_along(self, place: int) -> bool:
        """Whether effort times displacement is an energy: angles and quaternions need not be."""
        connectors, port = self.component.connectors, self.port
        if place >= len(port.effort):
            return False
        effort, along = connectors[port.effort[place]], connectors[port.displacement[place]]
        energy = product_of("J", effort, along) is not None
        return energy and effort.shape == along.shape


def automatic_plan(system: System, *, declared_only: bool = False) -> LedgerPlan:
    """Make a ledger of the power ports that are connected with each other.

    A port that takes its efforts, all from one port of another component that is moved by it, is
    connected with that. Components with such ports have accounts; outputs of theirs that are called
    ``energy`` (J), ``dissipation`` and ``exchange`` (W) tell what they store, lose and give away.

    Parameters
    ----------
    system
        Flat, its components resolved.
    declared_only
        Whether only ports count that the system or an FMU declares, and none by their names.
    """
    places = [
        _Place(component, port)
        for component in system.components.values()
        for port in (component.power_ports if declared_only else power_ports(component)).values()
    ]
    feeds = {str(line.target): str(line.source) for line in system.connections}
    pairs = list(_connected(places, feeds))
    named = [place for pair in pairs for place in pair]
    owners = dict.fromkeys(place.component.name for place in named)
    ports = tuple(
        LedgerPort(place.name, place.bond, place.component.name, place.positive) for place in named
    )
    interfaces = tuple(_interface(*pair) for pair in pairs)
    return LedgerPlan(
        tuple(_account(system.components[name]) for name in owners), ports, interfaces
    )


def _connected(places: list[_Place], feeds: Mapping[str, str]) -> Iterator[tuple[_Place, _Place]]:
    """Pairs of giver and taker of an effort."""
    for taker in (place for place in places if place.takes_effort):
        efforts = tuple(feeds.get(name, "") for name in taker.at(taker.port.effort))
        for giver in (place for place in places if not place.takes_effort):
            if giver.at(giver.port.effort) == efforts and _moved(giver, taker, feeds):
                yield giver, taker


def _moved(giver: _Place, taker: _Place, feeds: Mapping[str, str]) -> bool:
    """Whether the one that gives the effort is moved by the other: by flows or displacements."""
    flows = [
        feeds.get(into) == out
        for into, out in zip(giver.at(giver.port.flow), taker.at(taker.port.flow), strict=False)
    ]
    along = [
        feeds.get(into) == out
        for into, out in zip(
            giver.at(giver.port.displacement), taker.at(taker.port.displacement), strict=False
        )
    ]
    return (all(flows) and bool(flows)) or (all(along) and bool(along))


def _interface(giver: _Place, taker: _Place) -> Interface:
    name = f"{giver.name} - {taker.name}"
    if giver.positive is taker.positive:  # the effort changes its sign on the way
        return Interface(name, giver.name, taker.name)
    stage = Stage(f"motion to {giver.name}", motion=taker.bond.motion)
    return Interface(name, giver.name, taker.name, (stage,), f"effort to {taker.name}")


def _account(component: Component) -> Account:
    outputs = {c.name: c.unit for c in component.of(Causality.OUTPUT) if not c.shape}
    found: dict[str, tuple[str, ...]] = {
        key: (f"{component.name}.{name}",)
        for key, (name, unit) in _OUTPUTS.items()
        if outputs.get(name) == unit
    }
    return Account(component.name, **found)
