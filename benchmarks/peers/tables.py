"""The figures as tables on the terminal and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

NAMES = {
    "floor": "bare C loop",
    "softdock": "Softdock",
    "ecos": "ecos",
    "libcosim": "libcosim",
    "fmpy": "FMPy, own loop",
    "fmpy_ssp": "FMPy simulate_ssp",
    "cofmupy": "CoFMPy",
    "pyfmi": "PyFMI",
}
Rows = Sequence[dict[str, Any]]


def _cell(row: dict[str, Any]) -> str:
    return "-" if "skipped" in row else f"{row['us']:.3g} ({row['ratio']:.3g})"


def _start(row: dict[str, Any]) -> str:
    return "-" if "skipped" in row else f"{row['start_ms']:.3g} (+{row['import_ms']:.0f})"


def show(rows: Rows, sizes: Sequence[int], console: Console) -> None:
    """Print rates, start-up times, checks and the reasons for what is missing."""
    for title, record, cell in (
        ("us per step and unit (x of the C loop), nothing recorded", False, _cell),
        ("us per step and unit (x of the C loop), all outputs recorded", True, _cell),
        ("start-up to the end of the first step, ms (+ import), nothing recorded", False, _start),
    ):
        table = Table(title=title)
        table.add_column("")
        for n in sizes:
            table.add_column(f"N = {n}", justify="right")
        for peer, name in NAMES.items():
            mine = [r for r in rows if r["peer"] == peer and r["record"] is record]
            table.add_row(name, *(cell(row) for row in mine))
        console.print(table)
    for peer, name in NAMES.items():
        mine = [r for r in rows if r["peer"] == peer]
        done = [r for r in mine if "skipped" not in r]
        if done:
            worst = max(done, key=lambda row: row["deviation"])
            console.print(
                f"{name} {worst['version']}: order {worst['order']},"
                f" deviation at most {worst['deviation']:.1e}"
            )
        for reason in dict.fromkeys(r["skipped"] for r in mine if "skipped" in r):
            console.print(f"{name}: skipped, {reason}")


def draw(rows: Rows, title: str, path: Path) -> None:
    """Draw rates and start-up over the number of units, log-log."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(15, 5.2), layout="constrained")
    panels = (
        ("nothing recorded", False, "us", "time per step and unit, µs"),
        ("all outputs recorded", True, "us", "time per step and unit, µs"),
        ("start-up (without import)", False, "start_ms", "time to the end of the first step, ms"),
    )
    for axis, (head, record, key, label) in zip(axes, panels, strict=True):
        for number, (peer, name) in enumerate(NAMES.items()):
            mine = [r for r in rows if r["peer"] == peer and r["record"] is record and key in r]
            if mine:
                style = {"color": "black", "linestyle": "--"} if peer == "floor" else {}
                style = style or {"color": f"C{number - 1}"}
                width = 2.5 if peer == "softdock" else 1.2
                axis.loglog(
                    [r["n"] for r in mine],
                    [r[key] for r in mine],
                    marker="osv^D<>p"[number],
                    linewidth=width,
                    label=name,
                    **style,
                )
        axis.set(title=head, xlabel="number of units N in the chain", ylabel=label)
        axis.grid(visible=True, which="both", alpha=0.25)
    axes[0].sharey(axes[1])
    axes[0].legend(fontsize="small")
    figure.suptitle(title, fontsize="medium")
    figure.savefig(path, dpi=130)
