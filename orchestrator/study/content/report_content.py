"""What a report says and what its figures are, as plain values.

Colours are those of Okabe and Ito, which people with any colour vision tell apart. Every further
curve of a panel also has another dash, so that curves which coincide stay visible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orchestrator.core.coupling import DelayPlan, FaultRecord, LineStatistics, LoopDelay
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.recording import ParameterRow, Result, versions
from orchestrator.core.simunits import Notice

if TYPE_CHECKING:
    from matplotlib.figure import Figure


Floats = NDArray[np.float64]
Log = Literal["", "x", "y", "xy"]
#: Okabe and Ito's palette, the lightest (yellow) left out: it is not seen on white.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
Dash = str | tuple[float, tuple[float, ...]]
#: The first curve is solid and wide, later ones lie on it as dashes.
DASHES: tuple[Dash, ...] = (
    "-",
    (0, (5, 2.2)),
    (0, (1.2, 1.6)),
    (0, (7, 2, 1.2, 2)),
    (0, (2.5, 1.5)),
    (0, (9, 3)),
    (0, (5, 1.5, 1.2, 1.5, 1.2, 1.5)),
)


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One line of a plot.

    label: What the legend says; an empty one is not listed.
    x, y: Arrays of shape (n,): time in seconds and values, or the abscissa of a sweep.
    dash: A matplotlib line style such as ``"--"``; chosen by the order if ``None``.
    colour: Any matplotlib colour; chosen by the order if ``None``.
    band: Least and largest value at each place, shaded; ``None``: no band.
    is_expected: Whether it was computed and not found: among points it is a line without marks,
        below them.
    """

    label: str
    x: ArrayLike
    y: ArrayLike
    dash: Dash | None = None
    colour: str | None = None
    band: tuple[ArrayLike, ArrayLike] | None = None
    is_expected: bool = False

    def points(self) -> tuple[Floats, Floats]:
        """Both arrays as float64, checked."""
        x, y = np.asarray(self.x, dtype=np.float64), np.asarray(self.y, dtype=np.float64)
        if x.ndim != 1 or x.shape != y.shape:
            raise DescriptionError(
                f"curve '{self.label}': expected two arrays of equal length, found shapes"
                f" {x.shape} and {y.shape}"
            )
        return x, y


@dataclass(frozen=True, slots=True)
class Reference:
    """A horizontal or vertical line to compare with."""

    value: float
    label: str
    axis: Literal["x", "y"] = "y"


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Curves that share a vertical axis, whose label has the unit: ``"Position [m]"``.

    ylabel, curves: What is drawn.
    lines: Lines to compare with.
    limits: Of the vertical axis; what is outside is cut off. ``None``: all is shown.
    xlabel: Of a panel with a horizontal axis of its own; empty: that of the figure.
    """

    ylabel: str
    curves: Sequence[Curve]
    lines: Sequence[Reference] = ()
    limits: tuple[float, float] | None = None
    xlabel: str = ""


@dataclass(frozen=True, slots=True)
class Span:
    """A time in which something was different, shaded in all panels; ``None``: to the end."""

    label: str
    begin: float
    end: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Plot:
    """A figure as plain values.

    kind: ``"time"``: samples over an abscissa that all panels share; ``"path"``: samples of one
        signal over another, in their order; ``"points"``: results of a sweep.
    panels: At least one.
    title: Above all panels; none if empty.
    xlabel: With the unit.
    spans: Times that are shaded.
    columns: Panels in a row.
    log: Which axes are logarithmic.
    ticks: Places of the horizontal axis and their names, where they are no numbers.
    """

    kind: Literal["time", "path", "points"]
    panels: Sequence[Panel]
    title: str = ""
    xlabel: str = "Time [s]"
    spans: Sequence[Span] = ()
    columns: int = 1
    log: Log = ""
    ticks: tuple[Sequence[float], Sequence[str]] | None = None


class Inline(Protocol):
    """What writes itself as an element of a page, such as a block diagram."""

    def inline(self, label: str) -> str:
        """Write it; ``label`` is for those who do not see it."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One number that sums a run up, such as a peak or a growth rate; a column of the summary."""

    name: str
    value: float | str | None
    unit: str = ""


@dataclass(frozen=True, slots=True)
class EnergyRow:
    """One line of an energy ledger.

    group, name: What it is, such as ``"created"``, and of what.
    energy, percent: J, and the share of what percentages are of.
    """

    group: str
    name: str
    energy: float
    percent: float


@dataclass(frozen=True, slots=True, eq=False)
class FigureItem:
    """A picture with its caption.

    figure: A plot, which the page draws; a matplotlib figure, a drawing of a system, or the path of
        a ``.png`` or ``.svg`` file.
    caption: Stands below it.
    alt: What it shows, for those who do not see it; the caption if empty.
    """

    figure: Plot | Figure | Inline | Path
    caption: str
    alt: str = ""


@dataclass(frozen=True, slots=True)
class FmuItem:
    """An FMU that was used."""

    component: str
    file: str
    guid: str
    generator: str = ""


@dataclass(frozen=True, slots=True)
class FileItem:
    """A file that was written; ``path`` relative to the report becomes a link."""

    path: Path
    description: str = ""


@dataclass(frozen=True, slots=True)
class TableItem:
    """A table with its heading; the first column names the rows, numbers stand to the right.

    ``note`` is a sentence above it, ``remarks`` are a list below that.
    """

    heading: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float | None, ...], ...]
    note: str = ""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class CaseSection:
    """One case: how it was run and what came of it.

    name, description: Heading, and a sentence below it.
    notices, line_statistics: As in :class:`~orchestrator.core.recording.Result`.
    measures: Numbers for the summary.
    parameters: Parameters of this case; empty if the report lists them for all cases.
    energies: Its energy ledger.
    energy_note: What percentages are of, and how well the balance closes.
    figures: Pictures of this case.
    remarks: Shown prominently, such as the reason why a run ended early.
    """

    name: str
    description: str = ""
    algorithm: str = ""
    delay_mode: str = ""
    step_ns: int = 0
    simulated_seconds: float = 0.0
    wall_seconds: float = 0.0
    loops: tuple[LoopDelay, ...] = ()
    plans: tuple[DelayPlan, ...] = ()
    faults: tuple[FaultRecord, ...] = ()
    notices: tuple[Notice, ...] = ()
    line_statistics: Mapping[str, LineStatistics] = field(default_factory=dict)
    measures: tuple[Measure, ...] = ()
    parameters: tuple[ParameterRow, ...] = ()
    figures: tuple[FigureItem, ...] = ()
    remarks: tuple[str, ...] = ()
    energies: tuple[EnergyRow, ...] = ()
    energy_note: str = ""

    @classmethod
    def of(
        cls,
        result: Result,
        *,
        description: str = "",
        measures: tuple[Measure, ...] = (),
        parameters: tuple[ParameterRow, ...] = (),
        figures: tuple[FigureItem, ...] = (),
        remarks: tuple[str, ...] = (),
    ) -> CaseSection:
        """Make the section of a result."""
        section = cls(
            result.name,
            description,
            measures=measures,
            parameters=parameters,
            figures=figures,
            remarks=remarks,
        )
        return replace(
            section,
            algorithm=result.algorithm,
            delay_mode=result.delay_mode,
            step_ns=result.step_ns,
            simulated_seconds=result.simulated_seconds,
            wall_seconds=result.wall_seconds,
            loops=result.loops,
            plans=result.plans,
            faults=result.faults,
            notices=result.notices,
            line_statistics=result.line_statistics,
        )

    @property
    def real_time_factor(self) -> float | None:
        """Simulated time over wall time; ``None`` if the wall time is not known."""
        return self.simulated_seconds / self.wall_seconds if self.wall_seconds > 0 else None


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """A whole report.

    title, description: Heading and introduction; a blank line begins a new paragraph.
    cases: In the order of the summary.
    diagrams: Drawings of the systems.
    figures: Pictures that compare cases.
    tables: Stand below the pictures.
    parameters: Parameters that all cases share.
    versions: Version by name; what this process runs on unless given.
    fmus: FMUs that were used.
    files: Files that were written with the report.
    created: Date to print; none if empty.
    remarks: Shown prominently, below the introduction.
    """

    title: str
    description: str = ""
    cases: tuple[CaseSection, ...] = ()
    diagrams: tuple[FigureItem, ...] = ()
    figures: tuple[FigureItem, ...] = ()
    tables: tuple[TableItem, ...] = ()
    parameters: tuple[ParameterRow, ...] = ()
    versions: Mapping[str, str] = field(default_factory=versions)
    fmus: tuple[FmuItem, ...] = ()
    files: tuple[FileItem, ...] = ()
    created: str = ""
    remarks: tuple[str, ...] = ()
