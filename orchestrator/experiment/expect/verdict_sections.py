"""Verdicts as tables for the terminal, the page and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orchestrator.experiment.expect.verdict import Verdict
from orchestrator.experiment.section import Cell, Section


def case_section(case: str, verdicts: Sequence[Verdict]) -> Section:
    """Return what is said of the expectations of a case."""
    columns = ("expectation", "requirement", "expected", "found", "verdict")
    rows = tuple((v.name, v.requirement, v.that, v.found, v.word) for v in verdicts)
    data = [one.as_json() for one in verdicts]
    return Section(
        "expect",
        f"Expectations of {case}",
        columns,
        rows,
        printed=len(rows),
        data=data,
        value=tuple(verdicts),
    )


def sweep_section(name: str, verdicts: Mapping[str, Sequence[Verdict]]) -> Section:
    """Return the table of verdicts on the runs of a sweep, by their points."""
    columns = ("run", *dict.fromkeys(one.that for row in verdicts.values() for one in row))
    rows: list[tuple[Cell, ...]] = []
    for point, row in verdicts.items():
        said = {one.that: f"{one.word}: {one.found}" for one in row}
        rows.append((point, *(said.get(column) for column in columns[1:])))
    everything = [one for row in verdicts.values() for one in row]
    return Section(
        f"expect-sweep-{name}",
        f"Expectations of sweep {name}",
        columns,
        tuple(rows),
        printed=len(rows),
        data=[one.as_json() for one in everything],
        value=tuple(everything),
    )
