"""``softdock analyze delays``: the delay of every loop, predicted and measured."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from orchestrator.cli.terminal.console import output as console
from orchestrator.cli.terminal.console import print_json, print_table


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
    from orchestrator.study.file.experiment import RunOptions

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
