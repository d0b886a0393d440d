"""What becomes of the energy of a case: its ledger as a table, as CSV and as a picture."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from orchestrator.core.recording import Result, whole_file
from orchestrator.study.content import Curve, EnergyRow, Panel, Plot, Section
from orchestrator.study.energy import EnergyLedger, Kind
from orchestrator.study.extension import Extension, Run
from orchestrator.study.measure.ledgers import (
    LedgerRequest,
    ledger_of,
    ledger_request,
    missed_shares,
    with_series,
    with_signals,
)
from orchestrator.study.prepare.prepared_case import PreparedCase

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
    of = "what is stored at the begin" if ledger.initial else "the largest that is stored"
    share = ledger.residual / ledger.turnover if ledger.turnover else 0.0
    said = (
        f"What is stored at the end is what was stored at the begin, and came from outside, and was"
        f" created, less what was dissipated and given away; the residual is what is missing."
        f" Percentages are of {of}, {ledger.reference:.6g} J. The largest residual is"
        f" {ledger.residual:.2g} J, {share:.1g} of the largest entry; the error of the quadrature"
        f" is estimated to be {ledger.error:.2g} J."
    )
    if ledger.unchecked:
        said += (
            f" Of {', '.join(ledger.unchecked)} the losses are what is left over, so that their"
            " balance checks nothing."
        )
    return said


def write_ledger(ledger: EnergyLedger, path: Path) -> None:
    """Write the table as CSV."""
    with whole_file(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["energy", "of", "value [J]", "share [%]"])
        for row in energy_rows(ledger):
            writer.writerow([row.group, row.name, repr(row.energy), repr(row.percent)])


def ledger_section(case: str, ledger: EnergyLedger) -> Section:
    """Return what is said of the energy of a case; its table stands with the case."""
    plot = ledger_plot(ledger, f"Energy of '{case}'")
    shown = {f"ledger-{case}": (plot, f"Energy ledger of {case}.")}
    return Section("ledger", plots=shown, value=ledger)


def ledger_plot(ledger: EnergyLedger, title: str) -> Plot:
    """Show what is stored, what was created and what came and went, and the residual over time."""
    stored = _curves(ledger, Kind.STORED)
    if len(stored) > 1:
        stored.insert(0, Curve("all that is stored", ledger.time, ledger.total(Kind.STORED)))
    moved = _curves(ledger, Kind.EXTERNAL, Kind.DISSIPATED, Kind.GIVEN)
    panels = {
        "Stored [J]": stored,
        "Created [J]": _curves(ledger, Kind.CREATED, Kind.PART),
        "Came and went [J]": moved,
        "Residual [J]": _curves(ledger, Kind.RESIDUAL),
    }
    shown = [Panel(label, curves) for label, curves in panels.items() if curves]
    return Plot("time", shown, title)


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
        if request is not None:
            self._requests[case.name] = request
        return with_signals(case, request)

    def after(self, run: Run, case: PreparedCase, result: Result) -> Result:
        """Add its totals; an open balance is said, and a problem if its table asks for that.

        Of a rig that missed cycles it is a warning.
        """
        request = self._requests.get(case.name)
        if request is None:
            return result
        missed = missed_shares(case, result, run.realtime.clock if run.realtime else None)
        ledger, wrong = ledger_of(request, result, case.system, missed)
        if wrong:
            told = f"warning: {wrong}" if missed.any() else wrong
            result = replace(result, notes=(*result.notes, told))
        if wrong and request.name and not missed.any():
            run.outcome.problems.append(f"case '{result.name}': {wrong}")
        if ledger is None:
            return result
        run.add(case.name, ledger_section(case.name, ledger))
        run.write(f"{case.name}.ledger.csv", partial(write_ledger, ledger))
        return with_series(result, ledger, request.window_ns)
