"""The page that ``softdock analyze loop`` writes: poles, margins, Bode, Nyquist, loci."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchestrator.loops.run.account_table import COLUMNS, mode_rows
from orchestrator.pictures import write_report
from orchestrator.study.content import FigureItem, FileItem, Report, TableItem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from orchestrator.loops import LoopAccount

PAGE = "loop.html"
#: What a margin is called, and where it stands in what is told.
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
_NO_LOOP = "No signal returns to where it came from: there is no loop."
_LINEARISED = (
    "Linearised about the point named above: in continuous time with all declared delays, and"
    " as the master steps it, by the map of one period of its schedule."
)


def margin_rows(found: Mapping[str, Any]) -> list[tuple[str, float | None, float | None]]:
    """Return name, value and frequency in Hz of each margin of an open loop that is told."""
    return [(name, found[value], found[at]) for name, value, at in MARGINS]


def title_of(told: Mapping[str, Any]) -> str:
    """Say what was linearised, and how it is stepped."""
    point = told["at"] or "the start"
    return f"{told['case']}: {told['algorithm']}, H = {told['step_ms']:g} ms, at {point}"


def write_loop_page(
    told: Mapping[str, Any],
    accounts: Sequence[LoopAccount],
    drawings: Mapping[str, Figure],
    files: Iterable[Path],
    output: Path,
) -> Path:
    """Write ``loop.html``, which needs nothing else, and return its path."""
    figures = tuple(
        FigureItem(figure, _CAPTIONS.get(name, _locus_caption(name)))
        for name, figure in drawings.items()
    )
    report = Report(
        title=title_of(told),
        description=_LINEARISED if accounts else _NO_LOOP,
        remarks=tuple(told["warnings"]) if accounts else (),
        figures=figures,
        tables=tuple(_tables(told, accounts)),
        created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        files=tuple(FileItem(path.relative_to(output)) for path in files),
    )
    write_report(report, output / PAGE)
    return output / PAGE


def _tables(told: Mapping[str, Any], accounts: Sequence[LoopAccount]) -> Iterator[TableItem]:
    for account in accounts:
        group = ", ".join(account.components)
        rows = tuple(mode_rows(account, len(account.modes)))
        yield TableItem(f"Loop of {group}", COLUMNS, rows, remarks=account.notes())
    for kind, how in (("open_loop", "in continuous time"), ("sampled_loop", "as sampled")):
        found = told.get(kind)
        if found is None:
            continue
        state = "stable" if found["stable"] else "unstable"
        yield TableItem(
            f"Margins {how}, cut at {found['line']}",
            ("margin", "value", "at [Hz]"),
            tuple(margin_rows(found)),
            f"Closed, the loop is {state} {how}.",
        )


def _locus_caption(name: str) -> str:
    if name.endswith("-map"):
        return "Growth rate of the fastest growing mode; lines where it is zero."
    return "Growth rate of the fastest growing mode over what was swept, and its root."
