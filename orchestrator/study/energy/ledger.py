"""The energy ledger of a run: work of samples, and the balance that it makes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.structs import Struct
from orchestrator.core.system import System, product_of, signal_of
from orchestrator.study.energy.course import work_within
from orchestrator.study.energy.late_motion import late_motion
from orchestrator.study.energy.plan import (
    Account,
    Bond,
    Interface,
    LedgerPlan,
    LedgerPort,
    automatic_plan,
)
from orchestrator.study.energy.samples import Samples, Signals, problem_of

Floats = NDArray[np.float64]

#: Share of what is dissipated from which on the energy of a late motion is an entry.
_TINY = 1e-6


class Work(Struct, eq=False):
    """Energy since the begin, J, shape (n,), and an estimate of its error at the end, J."""

    energy: Floats
    error: float = 0.0


def energy_of(samples: Samples, name: str) -> Work:
    """Return an energy, or the integral of a power; J since the begin in both cases."""
    own = samples.at_steps(samples.ticks(name))
    rows = own.at(name)[:, 0]
    factor = product_of("J", samples.connector(name))
    if factor is not None:
        return Work(own.spread(factor * (rows - rows[0])))
    power = samples.scale("W", name) * rows
    steps = np.diff(own.time)
    fine = _summed(0.5 * steps * (power[1:] + power[:-1]))
    coarse, last = _halved(own.time, power)
    return Work(own.spread(fine), abs(fine[last] - coarse) / 3.0)


def work_of(samples: Samples, bond: Bond) -> Work:
    """Return the integral of efforts times flows.

    A held effort does the work of its value times the difference of the displacement, without any
    error of the quadrature. Where an input follows its signal within the steps, as the master let
    it, the work is that of its polynomials, and outputs are on cubics through four rows; the error
    is the difference to parabolas through three. All else is the trapezoidal rule over the steps.
    Of a component that takes several communication steps at once these are its own steps, and the
    work is known at their ends. Where effort and motion have steps of unequal lengths, each is on
    its own curves, or held for its own steps, within the communication steps.
    The error is a third of the difference to steps twice as long, or with a held effort a twelfth
    of the changes that the slope of the flow has, times the effort and the step.
    """
    total, error = np.zeros(len(samples.time)), 0.0
    for index in range(len(bond.effort)):
        part = _Pair(samples, bond, index).work()
        total, error = total + part.energy, error + part.error
    return Work(total, error)


def unsure_work(samples: Samples, bond: Bond, missed: Floats) -> float:
    """Return by how much the work of a bond may be wrong since cycles were missed, J.

    In a step in which a device missed the share ``m`` of the step's time, two things are not known.
    The motion is that of a time which differs by ``m``: at the step's power, whose size is at most
    ``max|e| |dx|`` over the step, that is ``m max|e| |dx|``. And the effort changed by ``de`` at an
    unknown moment within the step, so that each of its values may have acted on all of ``dx``:
    ``|de| |dx|``. Of a flow ``v`` in a step ``h``, ``|dx|`` is at most ``h max|v|``, and it changes
    at an unknown moment, too: ``h max|e| |dv|``. The bound is their sum over the steps with
    ``m > 0``; the work of all others is as sure as without a device.
    """
    places = range(len(bond.effort))
    return sum(_Pair(samples, bond, place).unsure(missed) for place in places)


class _Pair:
    """One effort and what it acts on."""

    def __init__(self, samples: Samples, bond: Bond, place: int) -> None:
        motion, effort = bond.motion, bond.effort[place]
        self._held = samples.is_input(effort)
        self._moved = place < len(motion.displacement)
        if not self._moved and place >= len(motion.flow):
            raise DescriptionError(f"effort '{effort}': expected a flow or a displacement")
        other = motion.displacement[place] if self._moved else motion.flow[place]
        self._scale = samples.scale("J" if self._moved else "W", effort, other)
        self._names = effort, other
        self._about = bond if motion.arm and place == 1 else None
        arm = (motion.arm, bond.effort[0]) if self._about else ()
        lengths = {samples.ticks(name) for name in (effort, other, *arm)}
        self._mixed = len(lengths) > 1
        self._samples = samples = samples if self._mixed else samples.at_steps(*lengths)
        self._motion = self._scale * samples.at(other)
        self._begin, self._end = samples.over(effort)
        if self._begin.shape[1] != self._motion.shape[1]:
            raise DescriptionError(
                f"effort '{effort}' has {self._begin.shape[1]} elements, '{other}' has"
                f" {self._motion.shape[1]}; expected as many"
            )
        if self._about:
            self._begin, self._end = self._about_arm(self._about)

    def _about_arm(self, bond: Bond) -> tuple[Floats, Floats]:
        arm = self._samples.at(bond.motion.arm)
        begin, end = self._samples.over(bond.effort[0])
        if not arm.shape[1] == begin.shape[1] == self._begin.shape[1] == 3:
            raise DescriptionError(f"arm '{bond.motion.arm}': expected three elements everywhere")
        return self._begin - np.cross(arm[:-1], begin), self._end - np.cross(arm[1:], end)

    def work(self) -> Work:
        """Return the work in all rows of the run."""
        own = self._work()
        return Work(self._samples.spread(own.energy), own.error)

    def _work(self) -> Work:
        inputs = [*self._names, *(self._about.effort[:1] if self._about else ())]
        if self._mixed or any(self._samples.followed(name) is not None for name in inputs):
            best, other = self._within(4), self._within(3)
            return Work(best, float(abs(best[-1] - other[-1])))
        time = self._samples.time
        x, begin, end = self._motion, self._begin, self._end
        if self._moved:
            energy = _summed((0.5 * (begin + end) * np.diff(x, axis=0)).sum(axis=1))
            return Work(energy, 0.0 if self._held else self._richardson(energy))
        steps = np.diff(time)
        energy = _summed(0.5 * steps * (begin * x[:-1] + end * x[1:]).sum(axis=1))
        if not self._held:
            return Work(energy, self._richardson(energy))
        slopes = np.diff(x, axis=0) / steps[:, None]
        bent = np.diff(slopes, axis=0) * begin[1:]
        return Work(energy, float(abs((steps[1:, None] ** 2 * bent).sum()) / 12.0))

    def _within(self, rows: int) -> Floats:
        """Return the work since the begin, of outputs on curves through so many rows."""
        samples = self._samples
        effort, motion = (samples.course(name, rows) for name in self._names)
        about = None
        if self._about:
            names = self._about.motion.arm, self._about.effort[0]
            about = tuple(samples.course(name, rows) for name in names)
        first = samples.at(self._names[1])[0] if self._moved else None
        return _summed(self._scale * work_within(effort, motion, first, about))

    def unsure(self, missed: Floats) -> float:
        """Return by how much the work of steps with missed cycles may be wrong."""
        x, begin, end = self._motion, self._begin, self._end
        before = np.vstack([begin[:1], end[:-1]]) if self._held else begin
        largest, change = np.maximum(abs(before), abs(end)), abs(end - before)
        moved = abs(np.diff(x, axis=0))
        turned = np.zeros_like(moved)
        if not self._moved:
            steps = np.diff(self._samples.time)[:, None]
            moved, turned = steps * np.maximum(abs(x[:-1]), abs(x[1:])), steps * moved
        share = self._samples.within(missed)[:, None]
        each = share * largest * moved + change * moved + largest * turned
        return float(each[share[:, 0] > 0.0].sum())

    def _richardson(self, fine: Floats) -> float:
        """Estimate the error from steps twice as long; efforts are samples here."""
        effort = np.vstack([self._begin[:1], self._end])
        if not self._moved:
            power = (effort * self._motion).sum(axis=1)
            coarse, last = _halved(self._samples.time, power)
        else:
            rows = effort[::2]
            coarse = float(
                (0.5 * (rows[1:] + rows[:-1]) * np.diff(self._motion[::2], axis=0)).sum()
            )
            last = 2 * (len(rows) - 1)
        return abs(float(fine[last]) - coarse) / 3.0


def _summed(parts: Floats) -> Floats:
    return np.concatenate([[0.0], np.cumsum(parts)])


def _halved(time: Floats, power: Floats) -> tuple[float, int]:
    """Trapezoidal rule over every second row, and the row at which that ends."""
    some, steps = power[::2], np.diff(time[::2])
    return float((0.5 * steps * (some[1:] + some[:-1])).sum()), 2 * len(steps)


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
        :func:`~orchestrator.study.energy.ledger.unsure_work`.
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
    works = {port.name: work_of(samples, port.bond) for port in plan.ports}
    into = {port.name: port.sign * works[port.name].energy for port in plan.ports}
    errors = [work.error for work in works.values()]
    entries: list[Entry] = []
    late_entries: list[Entry] = []
    for account in plan.accounts:
        ports = [port for port in plan.ports if port.account == account.name]
        late = list(_late(samples, system, account, ports))
        inflow = sum((into[port.name] for port in ports), np.zeros(len(samples.time)))
        inflow = sum((entry.energy for entry in late), inflow)
        own, error = _balanced(samples, account, inflow)
        entries += own
        late_entries += late
        errors.append(error)
    inner = {name for each in plan.interfaces for name in (each.begin, each.end)}
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


def _late(
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


def _balanced(samples: Samples, account: Account, inflow: Floats) -> tuple[list[Entry], float]:
    """Entries of an account, and an estimate of their error."""
    entries = [
        Entry(
            Kind.STORED,
            _named(account.name, name, account.stored),
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
