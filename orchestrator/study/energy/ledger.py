"""The energy ledger of a run: asked for, or made of the power ports that are connected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from orchestrator.core.diagnostics import DescriptionError
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
from orchestrator.study.energy.work import (
    Floats,
    Samples,
    Signals,
    Work,
    energy_of,
    stored_in,
    unsure_work,
    work_of,
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


class Kind(StrEnum):
    """What an entry is; the balance is stored = initial + external + created - dissipated - given.

    A ``part`` is a stage's share of what an interface created.
    """

    STORED = "stored"
    EXTERNAL = "external"
    CREATED = "created"
    PART = "part"
    DISSIPATED = "dissipated"
    GIVEN = "given"
    RESIDUAL = "residual"


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One energy over time.

    Parameters
    ----------
    kind, name
        What it is.
    energy
        J, shape (n,): as it stands if it is stored, else since the begin.
    """

    kind: Kind
    name: str
    energy: Floats

    @property
    def change(self) -> float:
        """Last less first, J."""
        return float(self.energy[-1] - self.energy[0])


@dataclass(frozen=True, slots=True, eq=False)
class EnergyLedger:
    """All entries of a run.

    Parameters
    ----------
    time
        s, shape (n,).
    entries
        Stored ones first, the stages of an interface behind it.
    error
        Estimate of what the quadrature of all entries may have wrong at the end, J.
    unchecked
        Accounts whose losses are what is left over: they have no residual.
    unsure
        By how much the balance may be open since cycles of devices were missed, J: see
        :func:`~orchestrator.study.energy.work.unsure_work`.
    """

    time: Floats
    entries: tuple[Entry, ...]
    error: float
    unchecked: tuple[str, ...] = ()
    unsure: float = 0.0

    def of(self, kind: Kind) -> tuple[Entry, ...]:
        """Entries of one kind."""
        return tuple(entry for entry in self.entries if entry.kind is kind)

    def total(self, kind: Kind) -> Floats:
        """Sum of the entries of one kind, J, shape (n,)."""
        zero: Floats = np.zeros(len(self.time))
        return sum((entry.energy for entry in self.of(kind)), zero)

    @property
    def initial(self) -> float:
        """Energy that is stored at the begin, J."""
        return float(self.total(Kind.STORED)[0])

    @property
    def reference(self) -> float:
        """What percentages are of: the initial energy, or if that is 0 the largest stored, J."""
        return self.initial or float(np.abs(self.total(Kind.STORED)).max(initial=0.0))

    @property
    def turnover(self) -> float:
        """The largest of all entries at any time, J."""
        return max((float(np.abs(e.energy).max()) for e in self.entries), default=0.0)

    @property
    def residual(self) -> float:
        """By how much the balance is open at worst, J."""
        return float(np.abs(self.total(Kind.RESIDUAL)).max(initial=0.0))

    def closes(self, tolerance: float) -> bool:
        """Whether the residual is below a share of the turnover, and what missed cycles allow."""
        return self.residual <= tolerance * self.turnover + self.unsure

    def stability_indicator(self, window: float) -> Floats:
        """Return what the interfaces created in the last ``window`` (s) by what was dissipated.

        At 1 the coupling feeds the motion as fast as the damping takes from it: a mode that it has
        to itself neither grows nor dies down. 0 where nothing is dissipated yet. Shape (n,).

        References
        ----------
        Galmez, Fermandois: Online stability analysis for real-time hybrid simulation testing,
        Front. Built Environ. 6 (2020), for the idea to weigh these energies while a test runs; how
        that paper normalises them was not to be had.
        """
        before = np.maximum(self.time - window, self.time[0])
        created, dissipated = (
            np.maximum(total - np.interp(before, self.time, total), 0.0)
            for total in (self.total(Kind.CREATED), self.total(Kind.DISSIPATED))
        )
        share: Floats = np.zeros_like(created)
        np.divide(created, dissipated, out=share, where=dissipated > 0.0)
        return share

    def totals(self) -> dict[str, float]:
        """Return the sums at the end by name, J, for files."""
        found = {"initial": self.initial, "stored": float(self.total(Kind.STORED)[-1])}
        for kind in (Kind.EXTERNAL, Kind.CREATED, Kind.DISSIPATED, Kind.GIVEN, Kind.RESIDUAL):
            found[str(kind)] = float(self.total(kind)[-1])
        found |= {f"{e.kind}: {e.name}": float(e.energy[-1]) for e in self.entries}
        return found | {"largest residual": self.residual, "error of the quadrature": self.error}


def energy_ledger(
    run: Signals,
    system: System,
    plan: LedgerPlan | None = None,
    missed: Floats | None = None,
) -> EnergyLedger:
    """Make the ledger of a run.

    Parameters
    ----------
    run
        Its result, with every step. The inputs that carry efforts or motion must be recorded too:
        see :attr:`LedgerPlan.connectors`.
    system
        What was run, flat, such as ``CaseOutcome.system``.
    plan
        Who holds energy and where it passes; ``None``: :func:`automatic_plan`.
    missed
        Shape (n - 1,): the share of each step's time that a device missed; ``None``: nothing.

    Raises
    ------
    UnknownNameError
        If a connector does not exist or was not recorded.
    DescriptionError
        If something is no energy or power, or no number, or there are not two rows.
    """
    plan = automatic_plan(system) if plan is None else plan
    samples = Samples(run, system)
    if len(samples.time) < 2:
        raise DescriptionError("an energy ledger needs a step at least: expected two rows")
    works = {port.name: work_of(samples, port.bond) for port in plan.ports}
    into = {port.name: port.sign * works[port.name].energy for port in plan.ports}
    errors = [work.error for work in works.values()]
    entries: list[Entry] = []
    for account in plan.accounts:
        inflow = sum((into[port.name] for port in plan.ports if port.account == account.name), 0.0)
        own, error = _balanced(samples, account, np.zeros(len(samples.time)) + inflow)
        entries += own
        errors.append(error)
    entries += _outside(plan, into)
    for interface in plan.interfaces:
        entries += _created(samples, plan, interface, into)
    order = list(Kind)
    # Stable, and the stages stay behind their interface.
    entries.sort(key=lambda e: order.index(Kind.CREATED if e.kind is Kind.PART else e.kind))
    unchecked = tuple(account.name for account in plan.accounts if not account.is_checked)
    unsure = 0.0
    if missed is not None and missed.any():
        checked = [port for port in plan.ports if port.account and port.account not in unchecked]
        unsure = sum(unsure_work(samples, port.bond, missed) for port in checked)
    return EnergyLedger(samples.time, tuple(entries), sum(errors), unchecked, unsure)


def _balanced(samples: Samples, account: Account, inflow: Floats) -> tuple[list[Entry], float]:
    """Entries of an account, and an estimate of their error."""
    entries = [
        Entry(Kind.STORED, _named(account.name, name, account.stored), stored_in(samples, name))
        for name in account.stored
    ]
    open_balance: Floats = sum((e.energy - e.energy[0] for e in entries), -inflow)
    error = 0.0
    lost = account.dissipated or ()
    for kind, names in ((Kind.DISSIPATED, lost), (Kind.GIVEN, account.given)):
        for name in names:
            work: Work = energy_of(samples, name)
            entries.append(Entry(kind, _named(account.name, name, names), work.energy))
            open_balance = open_balance + work.energy
            error += work.error
    if account.is_checked:
        entries.append(Entry(Kind.RESIDUAL, account.name, open_balance))
    else:
        entries.append(Entry(Kind.DISSIPATED, f"{account.name}, left over", -open_balance))
    return entries, error


def _named(account: str, connector: str, all_of_kind: tuple[str, ...]) -> str:
    return account if len(all_of_kind) == 1 else f"{account}: {connector}"


def _outside(plan: LedgerPlan, into: dict[str, Floats]) -> Iterator[Entry]:
    """What came through ports that are in no interface, and from sources."""
    inner = {name for each in plan.interfaces for name in (each.begin, each.end)}
    for port in plan.ports:
        if port.name not in inner:
            yield Entry(Kind.EXTERNAL, port.name, into[port.name])


def _created(
    samples: Samples, plan: LedgerPlan, interface: Interface, into: dict[str, Floats]
) -> Iterator[Entry]:
    """What both ends got more than one gave, and each stage's share of it."""
    begin, end = plan.port(interface.begin), plan.port(interface.end)
    brought: Floats = sum((into[name] for name in interface.sources), np.zeros(len(samples.time)))
    yield Entry(Kind.CREATED, interface.name, into[begin.name] + into[end.name] - brought)
    if not interface.stages:
        return
    bond = begin.bond
    before = begin.sign * into[begin.name] - begin.sign * brought
    for stage in interface.stages:
        bond = bond.changed(stage.effort, stage.motion)
        behind = work_of(samples, bond).energy
        yield Entry(Kind.PART, stage.name, begin.sign * (before - behind))
        before = behind
    behind = end.sign * into[end.name]
    yield Entry(Kind.PART, interface.rest, begin.sign * (before - behind))
