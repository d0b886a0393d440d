"""The energy ledgers of an experiment's cases: what they need, and as table, CSV and picture."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.coupling import DelayMode, DelayPlan
from orchestrator.core.diagnostics import DescriptionError, counted
from orchestrator.core.recording import Result, whole_file
from orchestrator.core.structs import Struct
from orchestrator.core.system import Causality, Positive, System, nanoseconds, signal_of
from orchestrator.study.content import Curve, EnergyRow, Panel, Plot, Section
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
from orchestrator.study.extension import Extension, Run
from orchestrator.study.measure.measures import counts_of, missed_shares
from orchestrator.study.prepare.prepared_case import PreparedCase

if TYPE_CHECKING:
    from orchestrator.study.tables import LedgerTable, MotionTable, Names, PortTable, StageTable


#: Additional signals of a result: sums of the entries of one kind, over time.
_SERIES = {f"ledger.{kind}": kind for kind in Kind if kind is not Kind.PART}
#: The same where a ledger looks back over a window; a number.
_INDICATOR = "ledger.stability_indicator"


class _Nothing:
    """A run of two rows in which every signal is zero, to try a plan with."""

    time = np.array([0.0, 1.0])
    plans: tuple[DelayPlan, ...] = ()

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        return np.zeros(2)


class LedgerRequest(Struct):
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
    def label(self) -> str:
        """Name for messages."""
        return f"ledger '{self.name}'" if self.name else "energy ledger"

    def signals(self, system: System, *, follows: bool = False) -> tuple[str, ...]:
        """Connectors to record: outputs, and inputs that something feeds.

        follows: Whether inputs may follow their signals within steps, so that their sources are
            needed as well.
        """
        fed = {str(line.target): str(line.source) for line in system.connections}
        plan_signals = [signal_of(system, name) for name in self.plan.connectors]
        signals_known = [
            str(signal.end)
            for signal in plan_signals
            if str(signal.end) in fed or signal.connector.causality is Causality.OUTPUT
        ]
        sources = [fed[name] for name in signals_known if name in fed] if follows else []
        return tuple(dict.fromkeys([*signals_known, *sources]))


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
        is_complete = options.record is None and (options.every or 1) == 1
        if not (plan.ports and is_complete):
            return None
        from orchestrator.study.tables import LedgerTable

        return LedgerRequest("", plan, LedgerTable(cases=(name,)).tolerance)
    key, table = tables[0]
    location = f"ledger '{key}', case '{name}'"
    if len(tables) > 1:
        both = " and ".join(f"'{table_name}'" for table_name, _ in tables)
        raise DescriptionError(f"case '{name}': ledgers {both}; expected one for a case")
    if (options.every or 1) != 1:
        raise DescriptionError(
            f"{location}: every: expected 1, found {options.every}: work is summed up over all"
            " steps"
        )
    try:
        listed = bool(table.account or table.port or table.interface)
        plan = _plan(table, system) if listed else automatic_plan(system)
        window_ns = None if table.window is None else nanoseconds(table.window)
        request = LedgerRequest(key, plan, table.tolerance, window_ns)
        energy_ledger(_Nothing(), system, plan)  # that all exist, and are energies and powers
    except DescriptionError as error:
        raise DescriptionError(*(f"{location}: {text}" for text in error.problems)) from None
    if not plan.accounts:
        raise DescriptionError(
            f"{location}: no power ports of '{system.name}' are connected with each other; declare"
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
            measure = experiment.case[case].measure.get(key)
            if measure is not None and measure.signal in (*_SERIES, _INDICATOR):
                yield (
                    f"sweep '{name}': measure '{key}' of case '{case}' is of '{measure.signal}',"
                    " and"
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


def with_signals(case: PreparedCase, request: LedgerRequest) -> PreparedCase:
    """Record what a ledger needs, too."""
    record = ("*",) if case.options.record is None else case.options.record
    held = case.options.delay in {DelayMode.MEAN, DelayMode.PLAIN}
    follows = not held or case.options.algorithm == "waveform"
    signals = request.signals(case.system, follows=follows)
    record = (*record, *signals, *counts_of(case.system))
    return case.with_options(record=record)


def ledger_of(
    request: LedgerRequest, result: Result, system: System, missed: NDArray[np.float64]
) -> tuple[EnergyLedger | None, str]:
    """Make the ledger of a finished case; the text says what is wrong, if anything is.

    ``missed`` is the share of each step's time that a device missed.
    """
    try:
        ledger = energy_ledger(result, system, request.plan, missed)
    except DescriptionError as error:
        return None, f"{request.label}: {error}"
    if ledger.closes(request.tolerance):
        return ledger, ""
    worst = max(ledger.of(Kind.RESIDUAL), key=lambda entry: float(abs(entry.energy).max()))
    steps = np.count_nonzero(missed)
    allowed = (
        f" and {ledger.unsure:.3g} J for {counted(int(steps), 'step')} with missed cycles"
        if steps
        else ""
    )
    events = [name for name, component in system.components.items() if component.shares_events]
    divided = f"steps that events of {' and '.join(map(repr, events))} divide, " if events else ""
    return ledger, (
        f"{request.label}: the balance is open by {ledger.residual:.3g} J, most of it at"
        f" '{worst.name}'; expected at most {request.tolerance:g} of the largest entry,"
        f" {ledger.turnover:.3g} J{allowed}: check for a port that is not listed, a wrong sign,"
        f" {divided}or a step that is too long"
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
            interface.begin,
            interface.to,
            tuple(
                Stage(stage.name, _all(stage.effort), _motion(stage))
                for stage in interface.stages
                if _applies(stage, system)
            ),
            interface.rest,
            interface.sources,
        )
        for name, interface in table.interface.items()
    )
    return LedgerPlan(accounts, ports, interfaces)


def _applies(table: PortTable | StageTable, system: System) -> bool:
    return not table.only_with or table.only_with in system.components


def _motion(table: MotionTable) -> Motion:
    return Motion(_all(table.flow), _all(table.displacement), table.arm)


def _all(names: Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else names


_WORDS = {
    Kind.CREATED: "{}, all of it",
    Kind.EXTERNAL: "from {}",
    Kind.DISSIPATED: "dissipated, {}",
    Kind.GIVEN: "given away, {}",
}
_GROUPS = {Kind.EXTERNAL: "from outside", Kind.PART: "of this", Kind.GIVEN: "given away"}


def energy_rows(ledger: EnergyLedger) -> list[EnergyRow]:
    """Lines of the table: what there was, what came and went, what is left, what is open."""
    scale = 100.0 / ledger.reference if ledger.reference else 0.0

    def row(group: str, name: str, energy: float) -> EnergyRow:
        return EnergyRow(group, name, energy + 0.0, scale * energy + 0.0)  # no -0

    def lines(*kinds: Kind) -> Iterator[EnergyRow]:
        for entry in (entry for entry in ledger.entries if entry.kind in kinds):
            yield row(_GROUPS.get(entry.kind, str(entry.kind)), entry.name, float(entry.energy[-1]))

    begin = [row("at the begin", e.name, float(e.energy[0])) for e in ledger.of(Kind.STORED)]
    moved = lines(Kind.EXTERNAL, Kind.CREATED, Kind.PART, Kind.DISSIPATED, Kind.GIVEN)
    end = [row("at the end", e.name, float(e.energy[-1])) for e in ledger.of(Kind.STORED)]
    return [*begin, *moved, *end, *lines(Kind.RESIDUAL)]


def energy_note(ledger: EnergyLedger) -> str:
    """Say what percentages are of, and how well the balance closes."""
    of = "energy stored at the begin" if ledger.initial else "the largest that is stored"
    share = ledger.residual / ledger.turnover if ledger.turnover else 0.0
    note = (
        "Energy stored at the end = stored at the begin + from outside + created - dissipated -"
        f" given away; the residual is the remainder. Percentages are of {of},"
        f" {ledger.reference:.6g} J. The largest"
        f" residual is {ledger.residual:.2g} J, {share:.1g} of the largest entry; the error of"
        f" the quadrature is estimated to be {ledger.error:.2g} J."
    )
    if ledger.unchecked:
        note += (
            f" Of {', '.join(ledger.unchecked)} the losses are the remainder, so their balance is"
            " not checked."
        )
    return note


def write_ledger(ledger: EnergyLedger, path: Path) -> None:
    """Write the table as CSV."""
    with whole_file(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["energy", "of", "value [J]", "share [%]"])
        for row in energy_rows(ledger):
            writer.writerow([row.group, row.name, repr(row.energy), repr(row.percent)])


def ledger_section(case: str, ledger: EnergyLedger) -> Section:
    """Return the report section on the energy of a case; its table stands with the case."""
    plot = ledger_plot(ledger, f"Energy of '{case}'")
    plots = {f"ledger-{case}": (plot, f"Energy ledger of {case}.")}
    return Section("ledger", plots=plots, value=ledger)


def ledger_plot(ledger: EnergyLedger, title: str) -> Plot:
    """Show what is stored, what was created and what came and went, and the residual over time."""
    stored = _curves(ledger, Kind.STORED)
    if len(stored) > 1:
        stored.insert(0, Curve("stored energy", ledger.time, ledger.total(Kind.STORED)))
    moved = _curves(ledger, Kind.EXTERNAL, Kind.DISSIPATED, Kind.GIVEN)
    panels = {
        "Stored [J]": stored,
        "Created [J]": _curves(ledger, Kind.CREATED, Kind.PART),
        "Exchanged [J]": moved,
        "Residual [J]": _curves(ledger, Kind.RESIDUAL),
    }
    panels_shown = [Panel(label, curves) for label, curves in panels.items() if curves]
    return Plot("time", panels_shown, title)


def _curves(ledger: EnergyLedger, *kinds: Kind) -> list[Curve]:
    """Draw all entries of some kinds that are not zero throughout."""
    return [
        Curve(_WORDS.get(kind, "{}").format(entry.name), ledger.time, entry.energy)
        for kind in kinds
        for entry in ledger.of(kind)
        if entry.energy.any()
    ]


class Ledger(Extension):
    """Draws up the energy ledger of cases that have power ports, or a table."""

    follows = ("account", "realtime")

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._requests: dict[str, LedgerRequest] = {}

    def prepare(self, run: Run, case: PreparedCase) -> PreparedCase:
        """Record what it needs, too."""
        request = ledger_request(case, run.experiment)
        if request is None:
            return case
        self._requests[case.name] = request
        return with_signals(case, request)

    def after(self, run: Run, case: PreparedCase, result: Result) -> Result:
        """Add its totals; an open balance is a remark, and a problem if its table requests that.

        Of a rig that missed cycles it is a warning.
        """
        request = self._requests.get(case.name)
        if request is None:
            return result
        missed = missed_shares(case, result, run.realtime.clock if run.realtime else None)
        ledger, problem = ledger_of(request, result, case.system, missed)
        if problem:
            note = f"warning: {problem}" if missed.any() else problem
            result = replace(result, notes=(*result.notes, note))
        if problem and request.name and not missed.any():
            run.outcome.problems.append(f"case '{result.name}': {problem}")
        if ledger is None:
            return result
        run.add(case.name, ledger_section(case.name, ledger))
        run.write(f"{case.name}.ledger.csv", partial(write_ledger, ledger))
        return with_series(result, ledger, request.window_ns)
