"""``softdock analyze loop``: modes and margins of every loop, exact and as a master steps it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchestrator.cli.terminal.console import count_bar, print_json, print_table, print_warning
from orchestrator.cli.terminal.console import output as console
from orchestrator.core.diagnostics import CapabilityError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from orchestrator.loops import LinearSystem, LoopAccount, OpenLoop


def loop(
    target: Annotated[Path, typer.Argument(help="Experiment (.toml), system (.ssd, .ssp), folder")],
    case: Annotated[str | None, typer.Option(help="Which case; the first one if absent")] = None,
    at: Annotated[
        str | None, typer.Option(help="Time at which it is linearised, such as '2 s'; the start")
    ] = None,
    step: Annotated[str | None, typer.Option(help="Communication step, such as '1 ms'")] = None,
    algorithm: Annotated[str | None, typer.Option(help="Master algorithm")] = None,
    delay: Annotated[str | None, typer.Option(help="'waveform', 'mean' or 'plain'")] = None,
    cut: Annotated[
        str | None, typer.Option("--break", help="Line whose open loop is wanted, or its input")
    ] = None,
    element: Annotated[int, typer.Option(help="Which element of an array, from 1", min=1)] = 1,
    sweep: Annotated[
        list[str] | None,
        typer.Option(
            help="KIND=FROM:TO:COUNT of a step, of delay or gain of the --break line, or of a"
            " component.parameter; given twice: a map"
        ),
    ] = None,
    limit_cycle: Annotated[
        str | None,
        typer.Option(
            help="COMPONENT=FROM:TO:COUNT: limit cycles by its describing function, with amplitudes"
            " of its input"
        ),
    ] = None,
    output: Annotated[Path | None, typer.Option(help="Folder for pictures and a page")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Say how the modes of each loop grow: in continuous time, and as this master steps it."""
    from orchestrator.cli.analyze.linear import linear_case
    from orchestrator.cli.analyze.sweep_range import SweepRange
    from orchestrator.loops.run_account import account_json

    ranges = [SweepRange.of(text, cut) for text in sweep or ()]
    if len(ranges) > 2:
        raise typer.BadParameter("at most two", param_hint="--sweep")
    name, linear = linear_case(target, case, at, step, algorithm, delay)
    accounts = linear.loop_accounts()
    told: dict[str, Any] = {
        "case": name,
        "at": at,
        "step_ms": linear.step_ns / 1e6,
        "algorithm": linear.master.algorithm,
        "loops": [account_json(account) for account in accounts],
        "warnings": [text for account in accounts for text in account.warnings()],
    }
    contact = linear.contact_accounts()
    told["contact"] = {
        side: [account_json(account) for account in found] for side, found in contact.items()
    }
    if limit_cycle is not None:
        told["limit_cycles"] = _limit_cycles(linear, limit_cycle)
    drawings: dict[str, Figure] = {}
    if cut is not None:
        told["sampled_loop"] = _sampled(linear, cut)
        opened = _continuous(linear, cut, element, told)
        if opened is not None and output is not None:
            margins = opened.margins()
            from orchestrator.loops.drawing import draw_bode, draw_nyquist

            drawings["bode"] = draw_bode(opened, margins)
            drawings["nyquist"] = draw_nyquist(opened, margins)
    if ranges:
        told["sweep"], drawn = _sweep(linear, ranges, cut, draw=output is not None)
        drawings.update(drawn)
    if output is not None and accounts:
        from orchestrator.loops.pole_drawing import draw_poles

        drawings = {"poles": draw_poles(accounts, linear.system.name), **drawings}
    files = _saved(drawings, output)
    if output is not None:
        from orchestrator.cli.analyze.loop_page import write_loop_page

        files.insert(0, write_loop_page(told, accounts, drawings, files, output))
    told["files"] = [str(path) for path in files]
    if json:
        print_json(told)
        return
    _print(told, accounts, contact)


def _limit_cycles(linear: LinearSystem, text: str) -> dict[str, Any]:
    """Tell the limit cycles of the loop through a component."""
    from orchestrator.cli.analyze.sweep_range import geometric
    from orchestrator.loops.limit_cycle import limit_cycles

    component, amplitudes = geometric(text, "--limit-cycle")
    found = limit_cycles(linear, component, amplitudes)
    return {"component": component, "cycles": [cycle.as_json() for cycle in found]}


def _continuous(
    linear: LinearSystem, cut: str, element: int, told: dict[str, Any]
) -> OpenLoop | None:
    """Open the loop in continuous time, and tell its margins; or why there is no such model."""
    from orchestrator.loops import open_loop

    try:
        opened = open_loop(linear.system, linear.models, cut, element)
    except CapabilityError as error:
        told["warnings"].append(f"no margins in continuous time: {error}")
        return None
    told["open_loop"] = {"line": opened.line, **opened.margins().as_json()}
    return opened


def _sampled(linear: LinearSystem, cut: str) -> dict[str, Any] | None:
    """Tell the margins of the loop as it is stepped; ``None`` of a line that carries an array."""
    from orchestrator.loops.loop_transfer import find_line
    from orchestrator.loops.sampled_loop import SampledLoop

    line = find_line(linear.system, cut)
    target = linear.system.components[line.target.component]
    if target.connectors[line.target.connector].size > 1:
        return None
    found = SampledLoop.of(linear, cut)
    return None if found is None else {"line": found.line, **found.margins().as_json()}


def _sweep(
    linear: LinearSystem, ranges: list[Any], cut: str | None, *, draw: bool
) -> tuple[dict[str, Any], Mapping[str, Figure]]:
    """Sweep over one range, or over two as a map; return what is told, and pictures."""
    import numpy as np

    from orchestrator.loops import swept
    from orchestrator.loops.drawing import draw_map, draw_sweep
    from orchestrator.loops.sweep import changer

    first = ranges[0]
    rows = ranges[1] if len(ranges) > 1 else None
    total = len(first.values) * (1 if rows is None else len(rows.values))
    done = 0
    with count_bar() as bar:

        def count() -> None:
            nonlocal done
            done += 1
            bar("sweep", done, total, 0)

        if rows is None:
            points = swept(linear, first.kind, first.values, line=cut, progress=count)
            told = {
                "kind": first.kind,
                "values": list(first.values),
                "growth_1_s": [None if math.isnan(p.sampled) else p.sampled for p in points],
                "exact_growth_1_s": [None if math.isnan(p.exact) else p.exact for p in points],
            }
            title = f"{linear.system.name}: {first.kind} of {cut}" if cut else linear.system.name
            return told, {
                f"{first.kind}-locus": draw_sweep(points, first.kind, title)
            } if draw else {}
        change = changer(linear, rows.kind, cut)
        lines = [
            swept(change(value), first.kind, first.values, line=cut, progress=count)
            for value in rows.values
        ]
    growth = np.array([[p.sampled for p in line] for line in lines])
    exact = np.array([[p.exact for p in line] for line in lines])
    told = {
        "kinds": [first.kind, rows.kind],
        "values": [list(first.values), list(rows.values)],
        "growth_1_s": growth.tolist(),
        "exact_growth_1_s": [[None if math.isnan(x) else x for x in line] for line in exact],
    }
    if not draw:
        return told, {}
    axes = (first.kind, np.array(first.values)), (rows.kind, np.array(rows.values))
    name = f"{first.kind}-{rows.kind}-map"
    return told, {name: draw_map(*axes, growth, exact, linear.system.name)}


def _saved(drawings: Mapping[str, Figure], output: Path | None) -> list[Path]:
    if output is None:
        return []
    from orchestrator.pictures import save

    output.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, figure in drawings.items():
        for suffix in (".png", ".svg"):
            paths.append(output / f"{name}{suffix}")
            save(figure, paths[-1])
    return paths


def _print(
    told: dict[str, Any], accounts: list[LoopAccount], contact: Mapping[str, list[LoopAccount]]
) -> None:
    from orchestrator.cli.analyze.loop_page import margin_rows, title_of

    title = title_of(told)
    if not accounts:
        console.print(f"{title}: no signal returns to where it came from", markup=False)
    sides = [("", account) for account in accounts]
    sides += [(f"contact {side}: ", account) for side in contact for account in contact[side]]
    for side, account in sides:
        rows = []
        for mode in account.modes:
            exact = mode.exact
            rows.append(
                [
                    f"{mode.frequency:.6g}",
                    f"{mode.damping:+.3g}",
                    "-" if exact is None else f"{exact.real:+.7g}",
                    f"{mode.growth:+.7g}",
                    "-" if exact is None else f"{mode.error:+.2e}",
                ]
            )
        columns = [
            "frequency [Hz]",
            "damping [-]",
            "exact growth [1/s]",
            "as sampled",
            "difference",
        ]
        print_table(f"{title}; {side}loop of {', '.join(account.components)}", columns, rows)
        for text in account.notes():
            console.print(text, markup=False)
    for text in told["warnings"]:
        print_warning(text)
    for kind, how in (("open_loop", "in continuous time"), ("sampled_loop", "as sampled")):
        found = told.get(kind)
        if found is None:
            continue
        rows = [
            [name, *("-" if value is None else f"{value:.6g}" for value in values)]
            for name, *values in margin_rows(found)
        ]
        state = "stable" if found["stable"] else "unstable"
        print_table(
            f"open loop {how}, cut at {found['line']}; closed it is {state}",
            ["margin", "value", "at [Hz]"],
            rows,
        )
    if cycles := told.get("limit_cycles"):
        _print_cycles(cycles)
    for path in told["files"]:
        console.print(path, markup=False)


def _print_cycles(told: dict[str, Any]) -> None:
    columns = ["amplitude", "frequency [Hz]", "motions nearby", "return [1/s]", "third harmonic"]
    rows = [
        [
            f"{cycle['amplitude']:.6g}",
            f"{cycle['frequency_hz']:.6g}",
            "come to it" if cycle["stable"] else "leave it",
            f"{cycle['return_rate_1_s']:+.4g}",
            f"{cycle['third_harmonic']:.2g}",
        ]
        for cycle in told["cycles"]
    ]
    title = f"limit cycles by the describing function of {told['component']}"
    if not rows:
        console.print(f"{title}: none between these amplitudes", markup=False)
        return
    print_table(title, columns, rows)
