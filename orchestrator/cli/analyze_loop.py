"""``softdock analyze loop``: modes and margins of every loop, exact and as a master steps it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchestrator.cli.console import messages, print_json, print_lines, print_table, print_warning
from orchestrator.cli.progress import count_bar
from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.core.files.plain_data import finite
from orchestrator.core.structs import Struct
from orchestrator.core.system import nanoseconds, seconds
from orchestrator.core.system.time import in_seconds
from orchestrator.loops.case_account import COLUMNS, FORMATS, mode_rows
from orchestrator.loops.sweep import KINDS, changer
from orchestrator.pictures import write_report
from orchestrator.study.content import FigureItem, FileItem, Report, TableItem, texts_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from orchestrator.core.system import System
    from orchestrator.loops import LinearSystem, LoopAccount, OpenLoop
    from orchestrator.study.experiment import RunOptions


def loop(
    target: Annotated[
        Path,
        typer.Argument(help="Experiment (.toml), system (.toml, .ssd, .ssp), or a folder with one"),
    ],
    case: Annotated[
        str | None, typer.Option(help="Case of the experiment; default: the first")
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(help="Time of the operating point, such as '2 s'; default: the start"),
    ] = None,
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
    cut: Annotated[
        str | None,
        typer.Option("--break", help="Connection where the loop is cut for margins, or its input"),
    ] = None,
    element: Annotated[
        int, typer.Option(help="Element of an array connection, counted from 1", min=1)
    ] = 1,
    sweep: Annotated[
        list[str] | None,
        typer.Option(
            help="KIND=FROM:TO:COUNT, where KIND is step, delay or gain of the --break "
            "connection, or component.parameter; twice: a map"
        ),
    ] = None,
    limit_cycle: Annotated[
        str | None,
        typer.Option(
            help="COMPONENT=FROM:TO:COUNT: find limit cycles with its describing function "
            "at these input amplitudes"
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Folder for figures and a page; default: none are written")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Show the modes of each loop, exact and as the master steps it."""
    from orchestrator.loops import linear_system
    from orchestrator.loops.run_account import account_json
    from orchestrator.study.experiment import RunOptions

    ranges = [SweepRange.of(text, cut) for text in sweep or ()]
    if len(ranges) > 2:
        raise typer.BadParameter("at most two", param_hint="--sweep")
    options_given = RunOptions(step=step, algorithm=algorithm, delay=delay)
    name, system, options = case_options(target, case, at, options_given)
    linear = linear_system(system, **options)
    accounts, contact = linear.loop_accounts(), linear.contact_accounts()
    report: dict[str, Any] = {
        "case": name,
        "at": at,
        "step_ms": linear.step_ns / 1e6,
        "algorithm": linear.master.algorithm,
        "loops": [account_json(account) for account in accounts],
        "warnings": [text for account in accounts for text in account.warnings()],
        "contact": {
            side: [account_json(account) for account in loops] for side, loops in contact.items()
        },
    }
    if limit_cycle is not None:
        from orchestrator.loops.limit_cycle import limit_cycles

        component, amplitudes = geometric(limit_cycle, "--limit-cycle")
        cycles = [cycle.as_json() for cycle in limit_cycles(linear, component, amplitudes)]
        report["limit_cycles"] = {"component": component, "cycles": cycles}
    drawings: dict[str, Figure] = {}
    if cut is not None:
        report["sampled_loop"] = _sampled(linear, cut)
        opened = _continuous(linear, cut, element, report)
        if opened is not None and output is not None:
            margins = opened.margins()
            from orchestrator.loops.drawing import draw_bode, draw_nyquist

            drawings["bode"] = draw_bode(opened, margins)
            drawings["nyquist"] = draw_nyquist(opened, margins)
    if ranges:
        report["sweep"], sweep_drawings = _sweep(linear, ranges, cut, draw=output is not None)
        drawings.update(sweep_drawings)
    if output is not None and accounts:
        from orchestrator.loops.drawing import draw_poles

        drawings = {"poles": draw_poles(accounts, linear.system.name), **drawings}
    files = saved(drawings, output)
    if output is not None:
        files.insert(0, write_loop_page(report, accounts, drawings, files, output))
    report["files"] = [str(path) for path in files]
    if json:
        print_json(report)
        return
    _print(report, accounts, contact)


def _continuous(
    linear: LinearSystem, cut: str, element: int, report: dict[str, Any]
) -> OpenLoop | None:
    """Open the loop in continuous time, and tell its margins; or why there is no such model."""
    from orchestrator.loops import open_loop

    try:
        opened = open_loop(linear.system, linear.models, cut, element)
    except CapabilityError as error:
        report["warnings"].append(f"no margins in continuous time: {error}")
        return None
    report["open_loop"] = {"line": opened.line, **opened.margins().as_json()}
    return opened


def _sampled(linear: LinearSystem, cut: str) -> dict[str, Any] | None:
    """Tell the margins of the loop as it is stepped; ``None`` of a line that carries an array."""
    from orchestrator.loops.loop_transfer import find_line
    from orchestrator.loops.sampled_loop import SampledLoop

    line = find_line(linear.system, cut)
    target = linear.system.components[line.target.component]
    if target.connectors[line.target.connector].size > 1:
        return None
    sampled_loop = SampledLoop.of(linear, cut)
    return (
        None
        if sampled_loop is None
        else {"line": sampled_loop.line, **sampled_loop.margins().as_json()}
    )


def _sweep(
    linear: LinearSystem, ranges: list[Any], cut: str | None, *, draw: bool
) -> tuple[dict[str, Any], Mapping[str, Figure]]:
    """Sweep over one range, or over two as a map; return the data of the report, and pictures."""
    import numpy as np

    from orchestrator.loops import swept
    from orchestrator.loops.drawing import draw_map, draw_sweep

    first = ranges[0]
    rows = ranges[1] if len(ranges) > 1 else None
    total = len(first.values) * (1 if rows is None else len(rows.values))
    done = 0
    with count_bar(messages) as bar:

        def count() -> None:
            nonlocal done
            done += 1
            bar("sweep", done, total, 0)

        if rows is None:
            points = swept(linear, first.kind, first.values, line=cut, progress=count)
            report = {
                "kind": first.kind,
                "values": list(first.values),
                "growth_1_s": [finite(p.sampled) for p in points],
                "exact_growth_1_s": [finite(p.exact) for p in points],
            }
            title = f"{linear.system.name}: {first.kind} of {cut}" if cut else linear.system.name
            return report, {
                f"{first.kind}-locus": draw_sweep(points, first.kind, title)
            } if draw else {}
        change = changer(linear, rows.kind, cut)
        lines = [
            swept(change(value), first.kind, first.values, line=cut, progress=count)
            for value in rows.values
        ]
    growth = np.array([[p.sampled for p in line] for line in lines])
    exact = np.array([[p.exact for p in line] for line in lines])
    report = {
        "kinds": [first.kind, rows.kind],
        "values": [list(first.values), list(rows.values)],
        "growth_1_s": growth.tolist(),
        "exact_growth_1_s": [[finite(x) for x in line] for line in exact],
    }
    if not draw:
        return report, {}
    axes = (first.kind, np.array(first.values)), (rows.kind, np.array(rows.values))
    name = f"{first.kind}-{rows.kind}-map"
    return report, {name: draw_map(*axes, growth, exact, linear.system.name)}


def saved(drawings: Mapping[str, Figure], output: Path | None) -> list[Path]:
    """Write drawings as PNG and SVG, where a folder is given; return the paths."""
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
    report: dict[str, Any], accounts: list[LoopAccount], contact: Mapping[str, list[LoopAccount]]
) -> None:
    title = title_of(report)
    if not accounts:
        print_lines(f"{title}: no signal returns to where it came from")
    sides = [("", account) for account in accounts]
    sides += [(f"contact {side}: ", account) for side in contact for account in contact[side]]
    for side, account in sides:
        modes = (row[1:] for row in mode_rows(account, len(account.modes)))
        rows, whose = texts_of(modes, FORMATS[1:]), ", ".join(account.components)
        print_table(f"{title}; {side}loop of {whose}", list(COLUMNS[1:]), rows)
        print_lines(*account.notes())
    for text in report["warnings"]:
        print_warning(text)
    for margins, how, state in _opened(report):
        heading = f"open loop {how}, cut at {margins['line']}; closed it is {state}"
        print_table(heading, ["margin", "value", "at [Hz]"], texts_of(margin_rows(margins)))
    if cycles := report.get("limit_cycles"):
        _print_cycles(cycles)
    print_lines(*report["files"])


def _print_cycles(report: dict[str, Any]) -> None:
    columns = ["amplitude", "frequency [Hz]", "motions nearby", "return [1/s]", "third harmonic"]
    rows = [
        [
            f"{cycle['amplitude']:.6g}",
            f"{cycle['frequency_hz']:.6g}",
            "come to it" if cycle["stable"] else "leave it",
            f"{cycle['return_rate_1_s']:+.4g}",
            f"{cycle['third_harmonic']:.2g}",
        ]
        for cycle in report["cycles"]
    ]
    title = f"limit cycles by the describing function of {report['component']}"
    if not rows:
        print_lines(f"{title}: none between these amplitudes")
        return
    print_table(title, columns, rows)


_MOST = 10_000


class SweepRange(Struct):
    """What is swept, and its values in seconds, as factors, or in the unit of a parameter."""

    kind: str
    values: tuple[float, ...]

    @classmethod
    def of(cls, text: str, cut: str | None) -> SweepRange:
        """Read a range."""
        kind, _, limits = text.partition("=")
        parts = limits.split(":")
        if not (kind in KINDS or "." in kind) or len(parts) != 3:
            raise _refused(
                f"expected KIND=FROM:TO:COUNT with {', '.join(KINDS)} or a component.parameter,"
                f" found '{text}'"
            )
        if kind in {"delay", "gain"} and cut is None:
            raise _refused(f"a {kind} is that of a connection: name it by --break")
        try:
            is_time = kind in {"delay", "step"}
            first, last = (
                seconds(nanoseconds(in_seconds(part.strip()), kind)) if is_time else float(part)
                for part in parts[:2]
            )
            count = int(parts[2])
        except (ValueError, DescriptionError) as error:
            raise _refused(f"'{text}': {error}") from None
        if not 2 <= count <= _MOST:
            raise _refused(f"'{text}': expected 2 to {_MOST} values, found {count}")
        width = (last - first) / (count - 1)
        values = (first + i * width for i in range(count))
        return cls(kind, tuple(round(v, 9) if is_time else v for v in values))


def geometric(text: str, option: str) -> tuple[str, list[float]]:
    """Read ``NAME=FROM:TO:COUNT`` as a name and values that are equally many times each other."""
    name, _, values = text.partition("=")
    try:
        first, last, count = values.split(":")
        low, high, steps = float(first), float(last), int(count) - 1
    except ValueError:
        raise typer.BadParameter(
            f"expected NAME=FROM:TO:COUNT, found '{text}'", param_hint=option
        ) from None
    if not (0.0 < low < high and 1 <= steps < _MOST):
        raise typer.BadParameter(
            f"'{text}': expected 0 < FROM < TO and 2 to {_MOST} values", param_hint=option
        )
    return name, [low * (high / low) ** (i / steps) for i in range(steps + 1)]


def _refused(text: str) -> typer.BadParameter:
    return typer.BadParameter(text, param_hint="--sweep")


def case_options(
    target: Path, case: str | None, at: str | None, overrides: RunOptions
) -> tuple[str, System, dict[str, Any]]:
    """Return the name of one case of a target, its system, and how it is linearised."""
    from orchestrator.cli.target import analysed_case
    from orchestrator.loops.chosen_step import chosen_step
    from orchestrator.study.experiment import AUTO

    prepared = analysed_case(target, case, overrides)
    if prepared.options.step == AUTO:
        prepared = prepared.with_options(step=f"{chosen_step(prepared).step_ns} ns")
    return prepared.name, prepared.system, prepared.options.stepping | {"at": at}


PAGE = "loop.html"
#: What a margin is called, and its keys in the report.
MARGINS = (
    ("gain margin [-]", "gain_margin", "gain_margin_hz"),
    ("gain reduction [-]", "gain_reduction", "gain_reduction_hz"),
    ("phase margin [deg]", "phase_margin_deg", "phase_margin_hz"),
    ("delay margin [ms]", "delay_margin_ms", "delay_margin_hz"),
    ("distance to -1 [-]", "distance_to_minus_one", "distance_hz"),
)
_CAPTIONS = {
    "poles": "Poles of the modes in the table.",
    "bode": "Open loop over the frequency, with its delays; dashed where a margin is read.",
    "nyquist": "Open loop in the complex plane; the circle is its least distance from -1.",
}
#: Of curves, and of maps.
_SWEPT = (
    "Growth rate of the fastest growing mode over what was swept, and its root.",
    "Growth rate of the fastest growing mode; lines where it is zero.",
)
_NO_LOOP = "There is no loop: no signal feeds back."
_LINEARISED = (
    "Linearised about the point named above: in continuous time with all declared delays, and"
    " as the master steps it, by the map of one period of its schedule."
)


def margin_rows(margins: Mapping[str, Any]) -> list[tuple[str, float | None, float | None]]:
    """Return name, value and frequency in Hz of each margin in the data of an open loop."""
    return [(name, margins[value], margins[at]) for name, value, at in MARGINS]


def _opened(report: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str, str]]:
    """Yield each open loop of a report, its method, and whether it is stable when closed."""
    for kind, how in (("open_loop", "in continuous time"), ("sampled_loop", "as sampled")):
        if (margins := report.get(kind)) is not None:
            yield margins, how, "stable" if margins["stable"] else "unstable"


def title_of(report: Mapping[str, Any]) -> str:
    """Say what was linearised, and how it is stepped."""
    point = report["at"] or "the start"
    return f"{report['case']}: {report['algorithm']}, H = {report['step_ms']:g} ms, at {point}"


def write_loop_page(
    facts: Mapping[str, Any],
    accounts: Sequence[LoopAccount],
    drawings: Mapping[str, Figure],
    files: Iterable[Path],
    output: Path,
) -> Path:
    """Write ``loop.html``, which needs nothing else, and return its path."""
    figures = tuple(
        FigureItem(figure, _CAPTIONS.get(name) or _SWEPT[name.endswith("-map")])
        for name, figure in drawings.items()
    )
    report = Report(
        title=title_of(facts),
        description=_LINEARISED if accounts else _NO_LOOP,
        remarks=tuple(facts["warnings"]) if accounts else (),
        figures=figures,
        tables=tuple(_tables(facts, accounts)),
        created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        files=tuple(FileItem(path.relative_to(output)) for path in files),
    )
    write_report(report, output / PAGE)
    return output / PAGE


def _tables(report: Mapping[str, Any], accounts: Sequence[LoopAccount]) -> Iterator[TableItem]:
    for account in accounts:
        group = ", ".join(account.components)
        rows = tuple(mode_rows(account, len(account.modes)))
        yield TableItem(f"Loop of {group}", COLUMNS, rows, remarks=account.notes())
    for margins, how, state in _opened(report):
        yield TableItem(
            f"Margins {how}, cut at {margins['line']}",
            ("margin", "value", "at [Hz]"),
            tuple(margin_rows(margins)),
            f"Closed, the loop is {state} {how}.",
        )
