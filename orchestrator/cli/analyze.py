"""``softdock analyze``: stability of a contact loop with a delay; delays; the longest step."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchestrator.cli.analyze_loop import loop, saved
from orchestrator.cli.console import print_json, print_lines, print_table
from orchestrator.core.files.plain_data import finite
from orchestrator.core.system import nanoseconds, seconds

if TYPE_CHECKING:
    from orchestrator.loops.chosen_step import PeakChoice
    from orchestrator.loops.step_choice import StepChoice, StepReference


app = typer.Typer(
    invoke_without_command=True,
    help="Compute stability, delays, modes, margins and longest steps.",
)


@app.command()
def delays(
    target: Annotated[
        Path,
        typer.Argument(help="Experiment (.toml), system (.toml, .ssd, .ssp), or a folder with one"),
    ],
    step: Annotated[
        str | None,
        typer.Option(
            help="Communication step, such as '1 ms'; default: that of the case or system"
        ),
    ] = None,
    algorithm: Annotated[
        str | None, typer.Option(help="Master algorithm; default: that of the case or system")
    ] = None,
    delay: Annotated[
        str | None,
        typer.Option(
            help="How declared delays are realised: waveform, mean or plain; default: that"
            " of the case"
        ),
    ] = None,
    measure: Annotated[
        bool, typer.Option("--measure", help="Also measure every loop with a sine")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Show the delay of every loop: declared, added, measured."""
    from orchestrator.cli.target import experiment_of, systems_of, with_options
    from orchestrator.study.experiment import RunOptions

    systems = systems_of(target)
    options = RunOptions(step=step, algorithm=algorithm, delay=delay)
    experiment = with_options(experiment_of(target)[0], options)
    cases = {
        name: _loops(system, experiment.case[name], measure=measure)
        for name, system in systems.items()
    }
    if json:
        print_json(
            {name: {"loops": rows, "remarks": remarks} for name, (rows, remarks) in cases.items()}
        )
        return
    for name, (rows, remarks) in cases.items():
        _print_delays(name, rows, measure=measure)
        print_lines(*(f"{name}: {text}" for text in remarks))


def _loops(system: Any, options: Any, *, measure: bool) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows of the table of one case, and remarks.

    Rings around the same components with the same delay are one row; what is measured is that of
    them which is farthest from the prediction.
    """
    from orchestrator.core.coupling import DEFAULT_DELAY, DelayMode, remarks
    from orchestrator.core.master import compile_schedule
    from orchestrator.core.system import communication_step_ns
    from orchestrator.loops import probe_loop

    default = system.experiment
    step_ns = communication_step_ns(system, options.step)
    name = options.algorithm or default.algorithm or "gauss-seidel"
    mode = DelayMode(options.delay or DEFAULT_DELAY)
    if mode is DelayMode.PLAIN:
        system = system.without_zero_delays()
    schedule = compile_schedule(system, name, step_ns, mode, ())
    rows = []
    for delay in schedule.loop_delays:
        row: dict[str, Any] = {
            "ring": str(delay.loops[0]),
            "rings": delay.ring_count,
            "physical_delay_ms": delay.physical_ns / 1e6,
            "numerical_delay_ms": delay.numerical_ns / 1e6,
            "predicted_delay_ms": delay.total_ns / 1e6,
        }
        if measure:
            every = [probe_loop(system, schedule, delay, ring) for ring in delay.loops]
            probed = max(every, key=lambda probe: abs(probe.measured_ns - delay.total_ns))
            row["measured_delay_ms"] = probed.measured_ns / 1e6
            row["frequency_hz"] = probed.frequency
            row["gain"] = probed.gain
        rows.append(row)
    return rows, remarks(schedule.plans, schedule.loop_delays, step_ns, mode)


def _print_delays(name: str, rows: list[dict[str, Any]], *, measure: bool) -> None:
    if not rows:
        print_lines(f"{name}: no signal returns to where it came from")
        return
    columns = ["loop", "rings", "physical [ms]", "numerical [ms]", "predicted [ms]"]
    keys = ["physical_delay_ms", "numerical_delay_ms", "predicted_delay_ms"]
    if measure:
        columns += ["measured [ms]", "gain"]
        keys += ["measured_delay_ms", "gain"]
    table = [[row["ring"], str(row["rings"]), *(f"{row[key]:.6f}" for key in keys)] for row in rows]
    print_table(f"{name}: delay of the loops", columns, table)


@app.callback()
def analyze(
    context: typer.Context,
    mass: Annotated[float, typer.Option(help="Reduced mass, kg")] = 750.0,
    stiffness: Annotated[float, typer.Option(help="Contact stiffness, N/m")] = 2510.0,
    damping: Annotated[
        list[float] | None, typer.Option(help="Damping, N.s/m; repeatable; default: 20 and 60")
    ] = None,
    delay: Annotated[str, typer.Option(help="Delay of the loop")] = "16 ms",
    pade: Annotated[int, typer.Option(help="Highest Pade order", min=1, max=12)] = 4,
    output: Annotated[
        Path | None, typer.Option(help="Folder for figures; default: none are drawn")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Compute limit, margin and roots of a delayed contact loop."""
    if context.invoked_subcommand is not None:
        return
    from orchestrator.loops.contact import ContactLoop

    lag = seconds(nanoseconds(delay, "--delay"))
    loops = [ContactLoop(mass, stiffness, b, lag) for b in damping or [20.0, 60.0]]
    rows = [_row(loop, pade) for loop in loops]
    drawings = {}
    if output is not None:
        from orchestrator.loops.contact import plot_growth_over_delay, plot_stability_plane

        drawings["stability-plane"] = plot_stability_plane(mass=loops[0].mass)
        drawings["growth-over-delay"] = plot_growth_over_delay(loops)
    files = saved(drawings, output)
    if json:
        print_json({"loops": rows, "files": [str(path) for path in files]})
        return
    _print_stability(rows, pade)
    print_lines(*files)


def _row(loop: Any, pade: int) -> dict[str, Any]:
    margin = loop.delay_margin
    root = loop.rightmost_root
    return {
        "mass_kg": loop.mass,
        "stiffness_n_m": loop.stiffness,
        "damping_ns_m": loop.damping,
        "delay_ms": loop.delay * 1e3,
        "stable": bool(loop.is_stable),
        "stiffness_limit_closed_form_n_m": loop.stiffness_limit_closed_form,
        "stiffness_limit_exact_n_m": loop.stiffness_limit_exact,
        "stiffness_limit_pade_n_m": [loop.stiffness_limit_pade(n) for n in range(1, pade + 1)],
        "delay_margin_ms": finite(margin.delay * 1e3),
        "delay_left_ms": finite(margin.additional * 1e3),
        "rightmost_root_1_s": [root.real, abs(root.imag)],
    }


def _print_stability(rows: list[dict[str, Any]], pade: int) -> None:
    def line(name: str, key: str, pattern: str) -> list[str]:
        return [name, *(pattern.format(row[key]) if row[key] is not None else "-" for row in rows)]

    rows = [
        {**row, "real": row["rightmost_root_1_s"][0], "imag": row["rightmost_root_1_s"][1]}
        for row in rows
    ]
    table = [
        line("stable", "stable", "{}"),
        line("rightmost root, real part [1/s]", "real", "{:+.6f}"),
        line("rightmost root, imaginary part [rad/s]", "imag", "{:.6f}"),
        line("delay margin [ms]", "delay_margin_ms", "{:.3f}"),
        line("delay left [ms]", "delay_left_ms", "{:+.3f}"),
        line("stiffness limit, exact [N/m]", "stiffness_limit_exact_n_m", "{:.3f}"),
        line("stiffness limit, Eq 12 [N/m]", "stiffness_limit_closed_form_n_m", "{:.3f}"),
    ]
    for n in range(pade):
        values = [f"{row['stiffness_limit_pade_n_m'][n]:.3f}" for row in rows]
        table.append([f"stiffness limit, Pade order {n + 1} [N/m]", *values])
    title = (
        f"m s^2 + (K + b s) exp(-s h) = 0, m = {rows[0]['mass_kg']:g} kg,"
        f" K = {rows[0]['stiffness_n_m']:g} N/m, h = {rows[0]['delay_ms']:g} ms"
    )
    print_table(title, ["", *(f"b = {row['damping_ns_m']:g} N.s/m" for row in rows)], table)


app.command("loop")(loop)
_STEP_COLUMNS = [
    "algorithm",
    "H [ms]",
    "error",
    "of",
    "unit steps [1/s]",
    "operations [1/s]",
]
_PEAK_COLUMNS = ["H by peaks [ms]", "error of peaks", "of", "run [s]"]


@app.command()
def step(
    target: Annotated[
        Path,
        typer.Argument(help="Experiment (.toml), system (.toml, .ssd, .ssp), or a folder with one"),
    ],
    tolerance: Annotated[float, typer.Option(help="Largest relative error of any figure")],
    case: Annotated[
        str | None, typer.Option(help="Case of the experiment; default: the first")
    ] = None,
    algorithms: Annotated[
        str | None,
        typer.Option(
            help="Master algorithms, comma-separated; default: that of the case, jacobi "
            "and gauss-seidel"
        ),
    ] = None,
    cut: Annotated[
        list[str] | None,
        typer.Option(
            "--break",
            help="Connection where the loop is cut for margins; default: the first delayed"
            " one of each loop",
        ),
    ] = None,
    modes: Annotated[int, typer.Option(help="Largest number of modes per loop", min=1)] = 2,
    peaks: Annotated[
        bool, typer.Option("--peaks", help="Also run with H and H/2, and compare peak values")
    ] = False,
    output: Annotated[
        Path | None, typer.Option(help="Folder for the figure; default: it is not drawn")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Find the longest communication step for a tolerance.

    The table has a row for each algorithm, with its cost.
    """
    from orchestrator.cli.target import analysed_case
    from orchestrator.loops.chosen_step import case_step_reference, peaks_of_case
    from orchestrator.loops.compensation_choice import choose_compensation
    from orchestrator.study.experiment import RunOptions

    prepared = analysed_case(target, case, RunOptions())
    reference = case_step_reference(prepared, lines=cut, count=modes)
    choices, refused = _choices(reference, algorithms, tolerance)
    by_peaks = {  # run with the steps that were chosen, and shorter ones while peaks are off
        choice.algorithm: peaks_of_case(prepared, reference, choice)
        for choice in choices
        if peaks and choice.step_ns is not None
    }
    compensations = {c.algorithm: choose_compensation(reference, c) for c in choices}
    report: dict[str, Any] = {
        "case": prepared.name,
        "tolerance": tolerance,
        "algorithms": [
            {
                **choice.as_json(),
                **_peaks_json(by_peaks.get(choice.algorithm)),
                "compensation": compensation.as_json()
                if (compensation := compensations[choice.algorithm][0])
                else None,
                "compensations_not_tried": list(compensations[choice.algorithm][1]),
            }
            for choice in choices
        ],
        "refused": refused,
        "files": [str(path) for path in _drawn_step(choices, prepared.name, output)],
    }
    if json:
        print_json(report)
        return
    _print_step(report, choices, by_peaks)
    for algorithm, (compensation, _) in compensations.items():
        if compensation is not None:
            print_lines(f"{algorithm}: better with {compensation}")
    print_lines(*dict.fromkeys(text for _, untried in compensations.values() for text in untried))


def _choices(
    reference: StepReference, algorithms: str | None, tolerance: float
) -> tuple[list[StepChoice], dict[str, str]]:
    """Choose for each algorithm; return why some cannot, too, unless none can."""
    from orchestrator.core.diagnostics import CapabilityError, DescriptionError, UnknownNameError
    from orchestrator.loops.step_choice import choose_step

    own_algorithm = reference.linear.master.algorithm
    names = [own_algorithm, "jacobi", "gauss-seidel"]
    if algorithms is not None:
        names = [name.strip().replace("_", "-") for name in algorithms.split(",")]
    choices: list[StepChoice] = []
    refused: dict[str, DescriptionError] = {}
    for name in dict.fromkeys(names):
        try:
            choices.append(choose_step(reference, tolerance, algorithm=name))
        except UnknownNameError:
            raise
        except (CapabilityError, DescriptionError) as error:
            refused[name] = error
    if refused and not choices:
        raise DescriptionError.collect(refused.values())
    return choices, {name: str(error) for name, error in refused.items()}


def _peaks_json(choice: PeakChoice | None) -> dict[str, Any]:
    if choice is None:
        return {}
    return {
        "step_by_peaks_ms": None if choice.step_ns is None else choice.step_ns / 1e6,
        "runs": [
            {
                "step_ms": run.step_ns / 1e6,
                "output": run.output,
                "peak": run.peaks[0],
                "peak_with_half": run.peaks[1],
                "error": run.share,
                "wall_s": run.wall_seconds,
            }
            for run in choice.runs
        ],
    }


def _drawn_step(choices: list[StepChoice], name: str, output: Path | None) -> list[Path]:
    if output is None:
        return []
    from orchestrator.loops.step_choice import draw_choice

    figure = draw_choice(choices, f"{name}: what the step does to the loops")
    return saved({"step": figure}, output)


def _print_step(
    report: dict[str, Any], choices: list[StepChoice], by_peaks: dict[str, PeakChoice]
) -> None:
    rows = []
    for choice in choices:
        row = [choice.algorithm, *_cells(choice)]
        if by_peaks:
            row += _peak_cells(by_peaks.get(choice.algorithm))
        rows.append(row)
    title = f"{report['case']}: largest step with all errors within {report['tolerance']:g}"
    print_table(title, [*_STEP_COLUMNS, *(_PEAK_COLUMNS if by_peaks else [])], rows)
    for choice in choices:
        print_lines(*(f"{choice.algorithm}: {text}" for text in choice.remarks))
    refused = (f"{name}: {text}" for name, text in report["refused"].items())
    print_lines(*refused, *report["files"])


def _cells(choice: StepChoice) -> list[str]:
    if choice.effect is None or choice.cost is None:
        return ["none", "-", "-", "-", "-"]
    worst, cost = choice.effect.worst, choice.cost
    per_pass = " a pass" if cost.is_per_pass else ""
    return [
        f"{choice.effect.step_ns / 1e6:g}",
        f"{worst.share:.2e}",
        worst.name,
        f"{cost.unit_steps:.6g}{per_pass}",
        f"{cost.operations:.6g}{per_pass}",
    ]


def _peak_cells(choice: PeakChoice | None) -> list[str]:
    if choice is None:
        return ["-", "-", "-", "-"]
    last = choice.runs[-1]
    step_text = "none" if choice.step_ns is None else f"{choice.step_ns / 1e6:g}"
    return [step_text, f"{last.share:.2e}", last.output, f"{last.wall_seconds:.3g}"]
