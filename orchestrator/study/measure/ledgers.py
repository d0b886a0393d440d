"""The energy ledgers of an experiment's cases, and the cycles of devices that a run missed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from orchestrator.core.coupling import DelayPlan
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.recording import Result
from orchestrator.core.simunits.registry import clock_ns
from orchestrator.core.system import Causality, Positive, System, nanoseconds, signal_of
from orchestrator.study.energy import (
    Account,
    Bond,
    EnergyLedger,
    Interface,
    Kind,
    LedgerPlan,
    LedgerPort,
    Motion,
    Stage,
    automatic_plan,
    energy_ledger,
)
from orchestrator.study.experiment import Experiment
from orchestrator.study.prepare.prepared_case import PreparedCase

if TYPE_CHECKING:
    from orchestrator.study.tables import (
        LedgerTable,
        MotionTable,
        Names,
        PortTable,
        StageTable,
    )


#: What stands in a result beside what was recorded: sums of the entries of one kind, over time.
_SERIES = {
    f"ledger.{kind}": kind
    for kind in (
        Kind.STORED,
        Kind.EXTERNAL,
        Kind.CREATED,
        Kind.DISSIPATED,
        Kind.GIVEN,
        Kind.RESIDUAL,
    )
}
#: The same where a ledger looks back over a window; a number.
_INDICATOR = "ledger.stability_indicator"


class _Nothing:
    """A run of two rows in which every signal is zero, to try a plan with."""

    time = np.array([0.0, 1.0])
    plans: tuple[DelayPlan, ...] = ()

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        return np.zeros(2)


@dataclass(frozen=True, slots=True)
class LedgerRequest:
    """The ledger of one case.

    name: Of its table; empty if it has none, since the system declares power ports.
    plan: See :class:`~orchestrator.study.energy.LedgerPlan`.
    tolerance: Share of the largest entry that may be missing.
    window_ns: Over which the stability indicator looks back; ``None``: there is none.
    """

    name: str
    plan: LedgerPlan
    tolerance: float
    window_ns: int | None = None

    @property
    def where(self) -> str:
        """Name for messages."""
        return f"ledger '{self.name}'" if self.name else "energy ledger"

    def signals(self, system: System) -> tuple[str, ...]:
        """Connectors to record: outputs, and inputs that something feeds."""
        fed = {str(line.target) for line in system.connections}
        named = [signal_of(system, name) for name in self.plan.connectors]
        return tuple(
            dict.fromkeys(
                str(signal.end)
                for signal in named
                if str(signal.end) in fed or signal.connector.causality is Causality.OUTPUT
            )
        )


def ledger_request(case: PreparedCase, experiment: Experiment) -> LedgerRequest | None:
    """Return what the ledger of a case needs; ``None`` if it has none.

    A case without a table has one if its system declares power ports that are connected, and all
    that they need is recorded in every step.
    """
    name, options, system = case.name, case.options, case.system
    tables = [(key, table) for key, table in experiment.ledger.items() if name in table.cases]
    if tables and "ledger" in system.components:
        raise DescriptionError(
            f"case '{name}': a component is called 'ledger', as are the signals of the energy"
            " ledger; rename it"
        )
    if not tables:
        plan = automatic_plan(system, declared_only=True)
        whole = options.record is None and (options.every or 1) == 1
        if not (plan.ports and whole):
            return None
        from orchestrator.study.tables import LedgerTable

        return LedgerRequest("", plan, LedgerTable(cases=(name,)).tolerance)
    key, table = tables[0]
    where = f"ledger '{key}', case '{name}'"
    if len(tables) > 1:
        both = " and ".join(f"'{other}'" for other, _ in tables)
        raise DescriptionError(f"case '{name}': ledgers {both}; expected one for a case")
    if (options.every or 1) != 1:
        raise DescriptionError(
            f"{where}: every: expected 1, found {options.every}: work is summed up over all steps"
        )
    try:
        listed = bool(table.account or table.port or table.interface)
        plan = _plan(table, system) if listed else automatic_plan(system)
        window_ns = None if table.window is None else nanoseconds(table.window)
        request = LedgerRequest(key, plan, table.tolerance, window_ns)
        energy_ledger(_Nothing(), system, plan)  # that all exist, and are energies and powers
    except DescriptionError as error:
        raise DescriptionError(*(f"{where}: {text}" for text in error.problems)) from None
    if not plan.accounts:
        raise DescriptionError(
            f"{where}: no power ports of '{system.name}' are connected with each other; declare"
            f" some, or list ports in [ledger.{key}.port.NAME]"
        )
    return request


def wrong_ledgers(case: PreparedCase, experiment: Experiment) -> Iterator[str]:
    """Say what keeps the ledger of a case from being made."""
    try:
        ledger_request(case, experiment)
    except DescriptionError as error:
        yield from error.problems


def ledger_series(case: PreparedCase, experiment: Experiment) -> list[str]:
    """Names of the signals that the ledger of a case adds to its result; none if it has none."""
    try:
        request = ledger_request(case, experiment)
    except DescriptionError:  # reported as a wrong ledger
        return []
    if request is None:
        return []
    return [*_SERIES, *([] if request.window_ns is None else [_INDICATOR])]


def swept_ledgers(experiment: Experiment) -> Iterator[str]:
    """Say which sweeps measure a ledger: they make none."""
    for name, sweep in experiment.sweeps.items():
        for case, key in product(sweep.cases, sweep.measures):
            found = experiment.case[case].measure.get(key)
            if found is not None and found.signal in (*_SERIES, _INDICATOR):
                yield (
                    f"sweep '{name}': measure '{key}' of case '{case}' is of '{found.signal}', and"
                    " runs of a sweep make no energy ledger; expected a signal that is recorded"
                )


def with_series(result: Result, ledger: EnergyLedger, window_ns: int | None) -> Result:
    """Add the sums over time, the indicator if there is a window, and the totals, to a result."""
    series = {name: ledger.total(kind) for name, kind in _SERIES.items()}
    units = dict.fromkeys(series, "J")
    if window_ns is not None:
        series[_INDICATOR] = ledger.stability_indicator(window_ns / 1e9)
        units[_INDICATOR] = "1"
    return replace(
        result,
        names=(*result.names, *series),
        values=np.column_stack([result.values, *series.values()]),
        units={**result.units, **units},
        energies=ledger.totals(),
    )


def with_signals(case: PreparedCase, request: LedgerRequest | None) -> PreparedCase:
    """Record what a ledger needs, too."""
    if request is None:
        return case
    record = ("*",) if case.options.record is None else case.options.record

    record = (*record, *request.signals(case.system), *counts_of(case.system))
    return replace(case, options=case.options.model_copy(update={"record": record}))


def ledger_of(
    request: LedgerRequest, result: Result, system: System, missed: NDArray[np.float64]
) -> tuple[EnergyLedger | None, str]:
    """Make the ledger of a finished case; the text says what is wrong, if anything is.

    ``missed`` is the share of each step's time that a device missed.
    """
    try:
        ledger = energy_ledger(result, system, request.plan, missed)
    except DescriptionError as error:
        return None, f"{request.where}: {error}"
    if ledger.closes(request.tolerance):
        return ledger, ""
    worst = max(ledger.of(Kind.RESIDUAL), key=lambda entry: float(abs(entry.energy).max()))
    steps = np.count_nonzero(missed)
    allowed = f" and {ledger.unsure:.3g} J for {steps} steps with missed cycles" if steps else ""
    return ledger, (
        f"{request.where}: the balance is open by {ledger.residual:.3g} J, most of it at"
        f" '{worst.name}'; expected at most {request.tolerance:g} of the largest entry,"
        f" {ledger.turnover:.3g} J{allowed}: look for a port that is not listed, a sign, or a step"
        " that is too long"
    )


def _plan(table: LedgerTable, system: System) -> LedgerPlan:
    accounts = tuple(
        Account(
            name,
            _all(a.stored),
            None if a.dissipated is None else _all(a.dissipated),
            _all(a.given),
        )
        for name, a in table.account.items()
    )
    ports = tuple(
        LedgerPort(name, Bond(_all(p.effort), _motion(p)), p.account, Positive(p.positive))
        for name, p in table.port.items()
        if _applies(p, system)
    )
    interfaces = tuple(
        Interface(
            name,
            each.begin,
            each.to,
            tuple(
                Stage(stage.name, _all(stage.effort), _motion(stage))
                for stage in each.stages
                if _applies(stage, system)
            ),
            each.rest,
            each.sources,
        )
        for name, each in table.interface.items()
    )
    return LedgerPlan(accounts, ports, interfaces)


def _applies(table: PortTable | StageTable, system: System) -> bool:
    return not table.only_with or table.only_with in system.components


def _motion(table: MotionTable) -> Motion:
    return Motion(_all(table.flow), _all(table.displacement), table.arm)


def _all(names: Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else names


Floats = npt.NDArray[np.float64]
_COUNTS = ("samples", "lost", "late")


def counts_of(system: System) -> tuple[str, ...]:
    """Name the signals of a system that tell which cycles were missed."""
    return tuple(f"{device}.{count}" for device in _devices(system) for count in _COUNTS)


def missed_shares(case: PreparedCase, result: Result, clock: str | None) -> Floats:
    """Return by which share of its time each step and its device may be apart, shape (n - 1,).

    A step stands for as many cycles of the device that is the clock as fit into it. If the device
    counts more or fewer, the motion that was measured is that of another time. A sample that was
    lost or late is a cycle, too, of any device. What a cycle changed is read in the next step of
    each component, and answered in the one after that: so a step has all that was missed since
    twice the longest step before.
    """
    steps = np.diff(result.time)
    missed = np.zeros(len(steps))
    for device in _devices(case.system):
        if not all(f"{device}.{count}" in result.names for count in _COUNTS):
            continue  # a case that records its own choice, and has no ledger
        cycles = steps * (1e9 / (clock_ns(case.system.component(device).source) or 1))
        samples, lost, late = (np.diff(result[f"{device}.{count}"]) for count in _COUNTS)
        apart = np.abs(lost) + np.abs(late)
        if device == clock:
            off = np.abs(samples + lost - cycles)
            apart = np.maximum(apart, np.where(off >= 1.0 - 1e-9, off, 0.0))
        missed = np.maximum(missed, apart / cycles)
    window = 1 + 2 * max((case.options.rates or {}).values(), default=1)
    spread: Floats = np.convolve(missed, np.ones(window))[: len(missed)]
    return spread


def missed_count(case: PreparedCase, result: Result, clock: str | None) -> int:
    """Return in how many steps a cycle was missed."""
    return int(np.count_nonzero(missed_shares(case, result, clock)))


def _devices(system: System) -> Iterator[str]:
    return (name for name, one in system.components.items() if clock_ns(one.source))
