"""How cases of an experiment are repeated with shorter steps, and the table of what came of it."""

from __future__ import annotations

import csv
from functools import partial
from pathlib import Path

from orchestrator.core.diagnostics import DescriptionError, Diagnostic
from orchestrator.core.recording import whole_file
from orchestrator.core.system import seconds
from orchestrator.study.content import Cell, Section
from orchestrator.study.extension import Extension, Run
from orchestrator.study.refinement import Refinement, verified
from orchestrator.study.run.case_runs import as_simulated
from orchestrator.study.verification import Flag, OutputFigures, Verification

COLUMNS = (
    "output",
    "unit",
    "largest, H to H/2",
    "of span [%]",
    "largest, H/2 to H/4",
    "order",
    "error, RMS",
    "of span [%]",
    "remark",
)
_COLUMNS_OF_FILE = (
    "output",
    "unit",
    "span",
    "largest_1",
    "largest_2",
    "rms_1",
    "rms_2",
    "order",
    "error_rms",
    "differing_1",
    "differing_2",
    "first_difference_s",
    "jump_s",
    "flags",
)
#: Outputs that are printed; the file has all.
_PRINTED = 20


def verification_notes(verification: Verification) -> list[str]:
    """Say what was compared, and what to know of it, in sentences."""
    steps = ", ".join(f"{seconds(step) * 1e3:.9g} ms" for step in verification.steps_ns)
    notes = []
    if len(verification.steps_ns) > 1:
        notes.append(
            f"runs with steps of {steps}, compared at {len(verification.time_ns)} times that all"
            " have"
        )
    return [*notes, *verification.failures, *verification.remarks]


def verification_section(name: str, verification: Verification) -> Section:
    """Return the report section of a case: the outputs that differ most, the worst first."""
    notes, times = verification_notes(verification), len(verification.time_ns)
    rows = tuple(_row(figures, times) for figures in verification)
    lines = []
    if len(rows) > _PRINTED:
        more = f"{len(rows) - _PRINTED} more outputs are in {name}.verification.csv"
        lines.append(f"{name}: {more}")
    return Section(
        "verification",
        f"Verification of {name}",
        COLUMNS,
        rows,
        remarks=tuple(notes),
        formats=("{}", "{}", "{:.3g}"),
        printed=_PRINTED,
        lines=(*lines, *(f"{name}: {note}" for note in notes)),
        data=verification.as_json(),
        value=verification,
    )


def write_verification(verification: Verification, path: Path) -> None:
    """Write all figures of all outputs as CSV."""
    with whole_file(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_COLUMNS_OF_FILE)
        for figures in verification:
            writer.writerow(
                [
                    figures.name,
                    figures.unit,
                    figures.span,
                    *_two(figures.largest),
                    *_two(figures.rms),
                    figures.order,
                    figures.error,
                    *_two(figures.differing),
                    figures.first_s,
                    figures.jump_s,
                    ", ".join(figures.flags),
                ]
            )


def _row(figures: OutputFigures, times: int) -> tuple[Cell, ...]:
    first, second = _two(figures.largest)
    return (
        figures.name,
        figures.unit,
        first,
        _percent(figures.shares[0]),
        second,
        figures.order,
        figures.error,
        _percent(figures.error_share),
        "; ".join(_flag_text(flag, figures, times) for flag in figures.flags),
    )


def _percent(share: float | None) -> float | None:
    return None if share is None else 100.0 * share


def _flag_text(flag: Flag, figures: OutputFigures, times: int) -> str:
    if flag is Flag.JUMP and figures.jump_s is not None:
        return f"jump at {figures.jump_s:.6g} s"
    if flag is Flag.DISCRETE and figures.first_s is not None:
        differ = ", ".join(map(str, figures.differing))
        return f"discrete: {differ} of {times} samples differ, first at {figures.first_s:.6g} s"
    return str(flag)


def _two(values: tuple[float, ...]) -> tuple[float | None, float | None]:
    return values[0], values[1] if len(values) > 1 else None


class CaseVerification(Extension):
    """Runs each case with H/2 and H/4, and compares."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._refinements: dict[str, Refinement] = {}

    def begin(self, run: Run) -> None:
        """Find out how they are repeated."""
        problems: list[Diagnostic] = []
        for name, case in run.cases.items():
            try:
                self._refinements[name] = Refinement.of(*as_simulated(case))
            except DescriptionError as error:
                problems += error.within(f"case '{name}'")
        if problems:
            raise DescriptionError(*problems)

    def end(self, run: Run) -> None:
        """Run them, behind all runs that count."""
        for name, refinement in self._refinements.items():
            done = partial(run.tell, f"{name} with H/2 and H/4")
            verification = verified(refinement, run.outcome.cases[name].result, progress=done)
            run.add(name, verification_section(name, verification))
            run.write(f"{name}.verification.csv", partial(write_verification, verification))
