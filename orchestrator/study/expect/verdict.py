"""What came of an expectation, and its tables for the terminal, the page and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from orchestrator.study.section import Cell, Section


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an expectation was kept, and what was found.

    Parameters
    ----------
    name, requirement
        Of the expectation.
    where
        Case, and the point of a sweep.
    that
        What was expected.
    passed
        Whether it held.
    found
        In words.
    value, unit
        The measure; of a signal what lies farthest beyond the bound, or nearest to it. ``None``:
        there was nothing to look at.
    time
        When a signal broke it first, s.
    """

    name: str
    requirement: str
    where: str
    that: str
    passed: bool
    found: str
    value: float | None = None
    unit: str = ""
    time: float | None = None

    @property
    def word(self) -> str:
        """``"passed"`` or ``"broken"``."""
        return "passed" if self.passed else "broken"

    def __str__(self) -> str:
        mark = f" [{self.requirement}]" if self.requirement else ""
        place = f", {self.where}" if self.where else ""
        return (
            f"expectation '{self.name}'{mark}{place}: {self.word}: expected {self.that},"
            f" found {self.found}"
        )

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


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
