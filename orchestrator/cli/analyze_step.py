"""``softdock analyze step``: the largest communication step that leaves every loop as it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchestrator.cli.terminal.console import output as console
from orchestrator.cli.terminal.console import print_json, print_table

if TYPE_CHECKING:
    from orchestrator.loops.chosen_step import PeakChoice
    from orchestrator.loops.step_choice import StepChoice, StepReference
    from orchestrator.study.prepare.prepared_case import PreparedCase


_COLUMNS = [
    "algorithm",
    "H [ms]",
    "error",
    "of",
    "unit steps [1/s]",
    "operations [1/s]",
]
_PEAK_COLUMNS = ["H by peaks [ms]", "error of peaks", "of", "run [s]"]


def step(
    target: Annotated[Path, typer.Argument(help="Experiment (.toml), system (.ssd, .ssp), folder")],
    tolerance: Annotated[float, typer.Option(help="Error of any figure, as a share of its size")],
    case: Annotated[str | None, typer.Option(help="Which case; the first one if absent")] = None,
    algorithms: Annotated[
        str | None,
        typer.Option(help="Master algorithms, with commas; the case's own, Jacobi, Gauss-Seidel"),
    ] = None,
    cut: Annotated[
        list[str] | None,
        typer.Option(
            "--break", help="Line where margins are taken; the first delayed one of each loop"
        ),
    ] = None,
    modes: Annotated[int, typer.Option(help="Modes of each loop, at most", min=1)] = 2,
    peaks: Annotated[
        bool, typer.Option("--peaks", help="Run with H and H/2, too, and compare peak values")
    ] = False,
    output: Annotated[Path | None, typer.Option(help="Folder for the picture")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Say how long the communication step may be, by algorithm, and what that costs."""
    from orchestrator.loops.chosen_step import case_step_reference
    from orchestrator.loops.compensation_choice import choose_compensation
    from orchestrator.loops.step_choice import choose_step

    prepared = _prepared(target, case)
    reference = case_step_reference(prepared, lines=cut, count=modes)
    choices, refused = _choices(reference, algorithms, tolerance, choose_step)
    by_peaks = _by_peaks(prepared, reference, choices) if peaks else {}
    compensations = {c.algorithm: choose_compensation(reference, c) for c in choices}
    told: dict[str, Any] = {
        "case": prepared.name,
        "tolerance": tolerance,
        "algorithms": [
            {
                **choice.as_json(),
                **_peaks_json(by_peaks.get(choice.algorithm)),
                "compensation": found.as_json()
                if (found := compensations[choice.algorithm][0])
                else None,
                "compensations_not_tried": list(compensations[choice.algorithm][1]),
            }
            for choice in choices
        ],
        "refused": refused,
        "files": [str(path) for path in _drawn(choices, prepared.name, output)],
    }
    if json:
        print_json(told)
        return
    _print(told, choices, by_peaks)
    for algorithm, (found, _) in compensations.items():
        if found is not None:
            console.print(f"{algorithm}: better with {found}", markup=False)
    for text in dict.fromkeys(text for _, untried in compensations.values() for text in untried):
        console.print(text, markup=False)


def _prepared(target: Path, case: str | None) -> PreparedCase:
    from orchestrator.cli.target import expect_case, experiment_of, systems_of
    from orchestrator.study.prepare.prepare import merged
    from orchestrator.study.prepare.prepared_case import PreparedCase

    experiment = experiment_of(target)[0]
    if case is not None:
        expect_case(target, experiment, case)
    name = case or next(iter(experiment.case))
    options = merged(experiment.case[name], experiment.defaults)
    return PreparedCase(name, experiment.case[name], options, systems_of(target)[name])


def _choices(
    reference: StepReference, algorithms: str | None, tolerance: float, choose: Any
) -> tuple[list[StepChoice], dict[str, str]]:
    """Choose for each algorithm; return why some cannot, too, unless none can."""
    from orchestrator.core.diagnostics import CapabilityError, DescriptionError, UnknownNameError

    own = reference.linear.master.algorithm
    wanted = [own, "jacobi", "gauss-seidel"]
    if algorithms is not None:
        wanted = [name.strip().replace("_", "-") for name in algorithms.split(",")]
    choices: list[StepChoice] = []
    refused: dict[str, DescriptionError] = {}
    for name in dict.fromkeys(wanted):
        try:
            choices.append(choose(reference, tolerance, algorithm=name))
        except UnknownNameError:
            raise
        except (CapabilityError, DescriptionError) as error:
            refused[name] = error
    if refused and not choices:
        raise DescriptionError.collect(refused.values())
    return choices, {name: str(error) for name, error in refused.items()}


def _by_peaks(
    prepared: PreparedCase, reference: StepReference, choices: list[StepChoice]
) -> dict[str, PeakChoice]:
    """Run with the steps that were chosen, and shorter ones while peaks are off."""
    from orchestrator.loops.chosen_step import peaks_of_case

    return {
        choice.algorithm: peaks_of_case(prepared, reference, choice)
        for choice in choices
        if choice.step_ns is not None
    }


def _peaks_json(found: PeakChoice | None) -> dict[str, Any]:
    if found is None:
        return {}
    return {
        "step_by_peaks_ms": None if found.step_ns is None else found.step_ns / 1e6,
        "runs": [
            {
                "step_ms": run.step_ns / 1e6,
                "output": run.output,
                "peak": run.peaks[0],
                "peak_with_half": run.peaks[1],
                "error": run.share,
                "wall_s": run.wall_seconds,
            }
            for run in found.runs
        ],
    }


def _drawn(choices: list[StepChoice], name: str, output: Path | None) -> list[Path]:
    if output is None:
        return []
    from orchestrator.loops.step_choice import draw_choice
    from orchestrator.pictures import save

    output.mkdir(parents=True, exist_ok=True)
    figure = draw_choice(choices, f"{name}: what the step does to the loops")
    paths = [output / f"step{suffix}" for suffix in (".png", ".svg")]
    for path in paths:
        save(figure, path)
    return paths


def _print(
    told: dict[str, Any], choices: list[StepChoice], by_peaks: dict[str, PeakChoice]
) -> None:
    rows = []
    for choice in choices:
        row = [choice.algorithm, *_cells(choice)]
        if by_peaks:
            row += _peak_cells(by_peaks.get(choice.algorithm))
        rows.append(row)
    title = f"{told['case']}: largest step with all errors within {told['tolerance']:g}"
    print_table(title, [*_COLUMNS, *(_PEAK_COLUMNS if by_peaks else [])], rows)
    for choice in choices:
        for text in choice.remarks:
            console.print(f"{choice.algorithm}: {text}", markup=False)
    for name, text in told["refused"].items():
        console.print(f"{name}: {text}", markup=False)
    for path in told["files"]:
        console.print(path, markup=False)


def _cells(choice: StepChoice) -> list[str]:
    if choice.chosen is None or choice.cost is None:
        return ["none", "-", "-", "-", "-"]
    worst, cost = choice.chosen.worst, choice.cost
    each = " a pass" if cost.is_per_pass else ""
    return [
        f"{choice.chosen.step_ns / 1e6:g}",
        f"{worst.share:.2e}",
        worst.name,
        f"{cost.unit_steps:.6g}{each}",
        f"{cost.operations:.6g}{each}",
    ]


def _peak_cells(found: PeakChoice | None) -> list[str]:
    if found is None:
        return ["-", "-", "-", "-"]
    last = found.runs[-1]
    chosen = "none" if found.step_ns is None else f"{found.step_ns / 1e6:g}"
    return [chosen, f"{last.share:.2e}", last.output, f"{last.wall_seconds:.3g}"]
