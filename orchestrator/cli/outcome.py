"""What ``softdock run`` prints of an experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.cli.terminal.console import output as console
from orchestrator.cli.terminal.console import print_table

if TYPE_CHECKING:
    from orchestrator.study import ExperimentOutcome


def print_outcome(outcome: ExperimentOutcome) -> None:
    """Print what was run, what was measured, and which pictures were drawn."""
    rows = []
    for key, finished in outcome.cases.items():
        result = finished.result
        loops = result.loops
        rows.append(
            [
                key,
                result.algorithm,
                result.delay_mode,
                f"{result.step_ns / 1e6:g}",
                " ".join(sorted({f"{loop.physical_ns / 1e6:g}" for loop in loops})),
                " ".join(sorted({f"{loop.numerical_ns / 1e6:+.3f}" for loop in loops})),
                f"{result.simulated_seconds:g}",
                f"{result.real_time_factor:,.0f}",
            ]
        )
    columns = ["case", "master", "delay", "H [ms]", "physical [ms]", "numerical [ms]"]
    print_table(outcome.title, [*columns, "simulated [s]", "x real time"], rows)
    for key, finished in outcome.cases.items():
        for remark in finished.result.remarks:
            console.print(f"{key}: {remark}", markup=False)
    measured = [
        [f"{key}: {name}", f"{value.value:+.6g} {value.unit}".rstrip(), _details(value.details)]
        for key, finished in outcome.cases.items()
        for name, value in finished.measured.items()
    ]
    if measured:
        print_table("Measured", ["figure", "value", "details"], measured)
    for section in (one for finished in outcome.cases.values() for one in finished.sections):
        if texts := section.texts():
            print_table(section.heading, list(section.columns), texts)
        for line in section.lines:
            console.print(line, markup=False)
    for path in outcome.files:
        if path.suffix in {".html", ".png"}:
            console.print(str(path), markup=False)


def _details(details: dict[str, float]) -> str:
    shown = {"time_s": "at {:.6g} s", "frequency_hz": "{:.6g} Hz", "predicted": "predicted {:+.6g}"}
    return ", ".join(text.format(details[key]) for key, text in shown.items() if key in details)
