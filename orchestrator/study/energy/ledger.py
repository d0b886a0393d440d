"""The energy ledger of a run: the balance of works, stored energies and losses."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.structs import Struct
from orchestrator.core.system import SourceKind, System, signal_of
from orchestrator.study.energy.late_motion import late_motion
from orchestrator.study.energy.plan import (
    Account,
    Interface,
    LedgerPlan,
    LedgerPort,
    automatic_plan,
)
from orchestrator.study.energy.samples import Samples, Signals, problem_of
from orchestrator.study.energy.work import Work, energy_of, since_begin, unsure_work, work_of

Floats = NDArray[np.float64]

#: Share of what is dissipated from which on the energy of a late motion is an entry.
_TINY = 1e-6


_DEVICES = (SourceKind.DEVICE, SourceKind.TWIN)


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


class Entry(Struct, eq=False):
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


class EnergyLedger(Struct, eq=False):
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
        sums = {"initial": self.initial}
        sums |= {str(k): float(self.total(k)[-1]) for k in Kind if k is not Kind.PART}
        sums |= {f"{e.kind}: {e.name}": float(e.energy[-1]) for e in self.entries}
        return sums | {"largest residual": self.residual, "error of the quadrature": self.error}


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
    if problem := problem_of(run, system):
        raise DescriptionError(problem)
    samples = Samples(run, system)
    if len(samples.time) < 2:
        raise DescriptionError("an energy ledger needs a step at least: expected two rows")
    plan = _without_recordings(samples, plan)
    works = {port.name: work_of(samples, port.bond) for port in plan.ports}
    into = {port.name: port.sign * works[port.name].energy for port in plan.ports}
    errors = [work.error for work in works.values()]
    port_connectors = {name for port in plan.ports for name in port.bond.connectors}
    entries: list[Entry] = []
    late_entries: list[Entry] = []
    for account in plan.accounts:
        ports = [port for port in plan.ports if port.account == account.name]
        late_work = list(_late_entries(samples, system, account, ports))
        inflow = sum((into[port.name] for port in ports), np.zeros(len(samples.time)))
        inflow = sum((entry.energy for entry in late_work), inflow)
        account_entries, error = _balanced(samples, account, inflow, port_connectors)
        entries += account_entries
        late_entries += late_work
        errors.append(error)
    inner = {name for interface in plan.interfaces for name in (interface.begin, interface.end)}
    for port in plan.ports:
        if port.name not in inner:
            entries.append(Entry(Kind.EXTERNAL, port.name, into[port.name]))
    for interface in plan.interfaces:
        entries += _created(samples, plan, interface, into)
    entries += late_entries
    order = list(Kind)
    # Stable, and the stages stay behind their interface.
    entries.sort(key=lambda e: order.index(Kind.CREATED if e.kind is Kind.PART else e.kind))
    unchecked = tuple(account.name for account in plan.accounts if not account.is_checked)
    unsure = 0.0
    if missed is not None and missed.any():
        checked = [port for port in plan.ports if port.account and port.account not in unchecked]
        unsure = sum(unsure_work(samples, port.bond, missed) for port in checked)
    return EnergyLedger(samples.time, tuple(entries), sum(errors), unchecked, unsure)


def _without_recordings(samples: Samples, plan: LedgerPlan) -> LedgerPlan:
    """Return a plan without the accounts of recordings, because a run does not move a recording."""
    kinds = (SourceKind.LOG,)
    names = {a.name for a in plan.accounts if samples.of_kinds(kinds, a.outputs)}
    ports = [port for port in plan.ports if samples.of_kinds(kinds, port.bond.connectors)]
    names |= {port.account for port in ports if port.account}
    if names and len(names) == len(plan.accounts):
        raise DescriptionError(
            "every account of the ledger has a recording in place of its component, and a recording"
            " has no energy of its own: expected an account of a component that is simulated"
        )
    return plan.without(names)


def _late_entries(
    samples: Samples, system: System, account: Account, ports: Sequence[LedgerPort]
) -> Iterator[Entry]:
    """Yield what flows into an account while displacements are still on their way."""
    if not account.is_checked:
        return
    for port in ports:
        component = signal_of(system, port.bond.effort[0]).end.component
        lost: Floats = np.zeros(len(samples.time))
        for name in account.dissipated or ():
            if signal_of(system, name).end.component == component:
                lost = lost + energy_of(samples, name).energy
        energy = late_motion(samples, system, port, lost)
        if float(np.abs(energy).max()) > _TINY * float(np.abs(lost).max()):
            yield Entry(Kind.CREATED, f"late motion at {port.name}", energy)


def _balanced(
    samples: Samples, account: Account, inflow: Floats, port_connectors: Collection[str]
) -> tuple[list[Entry], float]:
    """Entries of an account, and an estimate of their error; ``known``: connectors of all ports."""
    entries = [
        Entry(
            Kind.STORED,
            _entry_name(account.name, name, account.stored),
            samples.scale("J", name) * samples.at(name)[:, 0],
        )
        for name in account.stored
    ]
    open_balance: Floats = sum((e.energy - e.energy[0] for e in entries), -inflow)
    error = 0.0
    lost = account.dissipated or ()
    for kind, names in ((Kind.DISSIPATED, lost), (Kind.GIVEN, account.given)):
        for name in names:
            work: Work = energy_of(samples, name)
            entries.append(Entry(kind, _entry_name(account.name, name, names), work.energy))
            open_balance = open_balance + work.energy
            error += work.error
    for kind, name, energy in _unseen(samples, account, open_balance, port_connectors):
        entries.append(Entry(kind, name, energy))
        open_balance = open_balance - energy
    if not account.is_checked:
        entries.append(Entry(Kind.DISSIPATED, f"{account.name}, left over", -open_balance))
    elif not samples.of_kinds(_DEVICES, account.outputs):
        entries.append(Entry(Kind.RESIDUAL, account.name, open_balance))
    return entries, error


def _unseen(
    samples: Samples, account: Account, open_balance: Floats, port_connectors: Collection[str]
) -> Iterator[tuple[Kind, str, Floats]]:
    """Yield energies that an account receives through none of its ports.

    Each is the remainder of the account's balance, in the steps in which it is received. The
    outputs of a device, and of its twin, are late, noisy and rounded, but the energies of its model
    are not: the difference is created. A change of a value, such as of a stiffness, brings energy.
    """
    devices = samples.of_kinds(_DEVICES, account.outputs)
    if account.is_checked and devices:
        yield Kind.CREATED, f"late outputs of {', '.join(devices)}", open_balance
    elif changes := samples.changed(account.outputs, port_connectors):
        steps = np.logical_or.reduce(list(changes.values()))
        brought = since_begin(np.where(steps, np.diff(open_balance), 0.0))
        yield Kind.EXTERNAL, f"change of {', '.join(changes)}", brought


def _entry_name(account: str, connector: str, all_of_kind: tuple[str, ...]) -> str:
    return account if len(all_of_kind) == 1 else f"{account}: {connector}"


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
