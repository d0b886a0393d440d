"""``softdock analyze``: stability of a contact loop with a delay; delays predicted and measured."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from orchestrator.cli.analyze_loop import loop
from orchestrator.cli.analyze_step import step
from orchestrator.cli.terminal.console import output as console
from orchestrator.cli.terminal.console import print_json, print_table
from orchestrator.core.system import nanoseconds, seconds


def delays(
    target: Annotated[Path, typer.Argument(help="Experiment (.toml), system (.ssd, .ssp), folder")],
    step: Annotated[str | None, typer.Option(help="Communication step, such as '1 ms'")] = None,
    algorithm: Annotated[str | None, typer.Option(help="Master algorithm")] = None,
    delay: Annotated[str | None, typer.Option(help="'waveform', 'mean' or 'plain'")] = None,
    measure: Annotated[
        bool, typer.Option("--measure", help="Measure every loop by a sine, too")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Say what delay every loop has: declared, added by the co-simulation, and measured."""
    from orchestrator.cli.target import experiment_of, systems_of, with_options
    from orchestrator.study.experiment import RunOptions

    systems = systems_of(target)
    given = RunOptions(step=step, algorithm=algorithm, delay=delay)
    experiment = with_options(experiment_of(target)[0], given)
    cases = {
        name: _loops(system, experiment.case[name], measure=measure)
        for name, system in systems.items()
    }
    if json:
        print_json({name: {"loops": rows, "remarks": said} for name, (rows, said) in cases.items()})
        return
    for name, (rows, said) in cases.items():
        _print(name, rows, measure=measure)
        for text in said:
            console.print(f"{name}: {text}", markup=False)


def _loops(system: Any, options: Any, *, measure: bool) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows of the table of one case, and remarks.

    Rings around the same components with the same delay are one row; what is measured is that of
    them which is farthest from the prediction.
    """
    from orchestrator.core.coupling import DEFAULT_DELAY, DelayMode, remarks
    from orchestrator.core.master import compile_schedule, probe_loop
    from orchestrator.core.system import communication_step_ns

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
            probed = max(every, key=lambda one: abs(one.measured_ns - delay.total_ns))
            row["measured_delay_ms"] = probed.measured_ns / 1e6
            row["frequency_hz"] = probed.frequency
            row["gain"] = probed.gain
        rows.append(row)
    return rows, remarks(schedule.plans, schedule.loop_delays, step_ns, mode)


def _print(name: str, rows: list[dict[str, Any]], *, measure: bool) -> None:
    if not rows:
        console.print(f"{name}: no signal returns to where it came from", markup=False)
        return
    columns = ["loop", "rings", "physical [ms]", "numerical [ms]", "predicted [ms]"]
    keys = ["physical_delay_ms", "numerical_delay_ms", "predicted_delay_ms"]
    if measure:
        columns += ["measured [ms]", "gain"]
        keys += ["measured_delay_ms", "gain"]
    table = [[row["ring"], str(row["rings"]), *(f"{row[key]:.6f}" for key in keys)] for row in rows]
    print_table(f"{name}: delay of the loops", columns, table)


app = typer.Typer(
    invoke_without_command=True,
    help="Stability of a contact loop with a delay; delays, modes, margins and steps of any loop.",
)
app.command("delays")(delays)
app.command("loop")(loop)
app.command("step")(step)


@app.callback()
def analyze(
    context: typer.Context,
    mass: Annotated[float, typer.Option(help="Reduced mass, kg")] = 750.0,
    stiffness: Annotated[float, typer.Option(help="Contact stiffness, N/m")] = 2510.0,
    damping: Annotated[
        list[float] | None, typer.Option(help="Damping, N.s/m; may be given several times")
    ] = None,
    delay: Annotated[str, typer.Option(help="Delay of the loop, such as '16 ms'")] = "16 ms",
    pade: Annotated[int, typer.Option(help="Highest Pade order", min=1, max=12)] = 4,
    output: Annotated[Path | None, typer.Option(help="Folder for pictures; none if absent")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Say how stiff a delayed contact may be, how much delay is left, and where the roots are."""
    if context.invoked_subcommand is not None:
        return
    from orchestrator.loops.contact import ContactLoop

    lag = seconds(nanoseconds(delay, "--delay"))
    loops = [ContactLoop(mass, stiffness, b, lag) for b in damping or [20.0, 60.0]]
    rows = [_row(loop, pade) for loop in loops]
    files = [] if output is None else _draw(loops, output)
    if json:
        print_json({"loops": rows, "files": [str(path) for path in files]})
        return
    _print_stability(rows, pade)
    for path in files:
        console.print(str(path), markup=False)


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
        "delay_margin_ms": margin.delay * 1e3 if math.isfinite(margin.delay) else None,
        "delay_left_ms": margin.additional * 1e3 if math.isfinite(margin.additional) else None,
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


def _draw(loops: list[Any], output: Path) -> list[Path]:
    from orchestrator.loops.contact import plot_growth_over_delay, plot_stability_plane
    from orchestrator.pictures import save

    output.mkdir(parents=True, exist_ok=True)
    drawings = {
        "stability-plane": plot_stability_plane(mass=loops[0].mass),
        "growth-over-delay": plot_growth_over_delay(loops),
    }
    paths = []
    for name, figure in drawings.items():
        paths += [output / f"{name}.png", output / f"{name}.svg"]
        for path in paths[-2:]:
            save(figure, path)
    return paths
