"""What a run shows, as plain values: figures, maps, tables, the report and its sections.

Colours are those of Okabe and Ito, which people with any colour vision tell apart. Every further
curve of a panel also has another dash, so that curves which coincide stay visible.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orchestrator.core.coupling import DelayPlan, FaultRecord, LineStatistics, LoopDelay
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.recording import ParameterRow, Result, versions
from orchestrator.core.simunits import Notice
from orchestrator.core.structs import Struct, field

if TYPE_CHECKING:
    from matplotlib.figure import Figure


Floats = NDArray[np.float64]
Log = Literal["", "x", "y", "xy"]
#: Axis of an angle of a signal that is a quaternion, in degrees; ``None``: it is taken as it is.
Angle = Literal["x", "y", "z"] | None
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


class Curve(Struct, eq=False):
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


class Reference(Struct):
    """A horizontal or vertical line to compare with."""

    value: float
    label: str
    axis: Literal["x", "y"] = "y"


class Panel(Struct, eq=False):
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


class Span(Struct):
    """A time in which something was different, shaded in all panels; ``None``: to the end."""

    label: str
    begin: float
    end: float | None = None


class Plot(Struct, eq=False):
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


class MapAxis(Struct):
    """An axis of all panels.

    label: With the unit.
    values: Numbers in increasing order, or names.
    log: Whether it is logarithmic.
    """

    label: str
    values: tuple[float, ...] | tuple[str, ...]
    log: bool = False

    @property
    def is_named(self) -> bool:
        """Whether the values are names."""
        return any(isinstance(value, str) for value in self.values)

    @property
    def centres(self) -> Floats:
        """Where the cells' centres are; those of names are counted."""
        if self.is_named:
            return np.arange(len(self.values), dtype=np.float64)
        return np.array(self.values, dtype=np.float64)

    @property
    def scaled(self) -> Floats:
        """The centres on the scale of the axis."""
        return np.log(self.centres) if self.log else self.centres

    @property
    def edges(self) -> Floats:
        """Borders of the cells: half-way between the values, on the scale of the axis."""
        at = self.scaled
        if len(at) == 1:
            bounds = np.array([at[0] - 0.5, at[0] + 0.5])
        else:
            middle = (at[:-1] + at[1:]) / 2
            bounds = np.concatenate(([2 * at[0] - middle[0]], middle, [2 * at[-1] - middle[-1]]))
        return np.exp(bounds) if self.log else bounds


class MapPanel(Struct, eq=False):
    """One map.

    title: Above it.
    values: Array of shape (rows, columns), with NaN where there is none.
    missing: Why there is none: masks of the same shape, by what the legend says.
    marked: Such masks of cells whose value holds under a reservation: they are hatched over it.
    predicted, contour: Of the same shape; the first has the predicted limit, the second the contour
        lines.
    """

    title: str
    values: Floats
    missing: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    marked: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    predicted: Floats | None = None
    contour: Floats | None = None


class MapLook(Struct):
    """How maps look.

    label: Of the scale, with the unit.
    colours: ``"log"``: logarithmic; ``"diverging"``: two hues that meet at the limit, or at zero.
    limit: Whose line is drawn; ``None``: none.
    limits: Ends of the scale; ``None``: those of the values.
    contour_label, levels: Of the contour lines.
    """

    label: str
    colours: Literal["linear", "log", "diverging"] = "linear"
    limit: float | None = None
    limits: tuple[float, float] | None = None
    contour_label: str = ""
    levels: tuple[float, ...] = ()

    @property
    def limit_label(self) -> str:
        """The limit with the unit of the label."""
        unit = self.label.rpartition(" [")[2].removesuffix("]") if self.label.endswith("]") else ""
        return f"limit {self.limit:g} {unit if self.limit else ''}".rstrip()


class Inline(Protocol):
    """What writes itself as an element of a page, such as a block diagram."""

    def inline(self, label: str) -> str:
        """Write it; ``label`` is for those who do not see it."""


class Measure(Struct):
    """One number that sums a run up, such as a peak or a growth rate; a column of the summary."""

    name: str
    value: float | str | None
    unit: str = ""


class EnergyRow(Struct):
    """One line of an energy ledger.

    group, name: What it is, such as ``"created"``, and of what.
    energy, percent: J, and the share of what percentages are of.
    """

    group: str
    name: str
    energy: float
    percent: float


class FigureItem(Struct, eq=False):
    """A picture with its caption.

    figure: A plot, which the page draws; a matplotlib figure, a drawing of a system, or the path of
        a ``.png`` or ``.svg`` file.
    caption: Stands below it.
    alt: What it shows, for those who do not see it; the caption if empty.
    narrow: The same for a screen as narrow as a phone's; ``None``: the page makes a large picture
        scroll there.
    """

    figure: Plot | Figure | Inline | Path
    caption: str
    alt: str = ""
    narrow: Figure | None = None


class FmuItem(Struct):
    """An FMU that was used."""

    component: str
    file: str
    guid: str
    generator: str = ""


class FileItem(Struct):
    """A file that was written; ``path`` relative to the report becomes a link."""

    path: Path
    description: str = ""


class TableItem(Struct):
    """A table with its heading; the first column names the rows, numbers stand to the right.

    ``note`` is a sentence above it, ``remarks`` are a list below that.
    """

    heading: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float | None, ...], ...]
    note: str = ""
    remarks: tuple[str, ...] = ()


Cell = str | float | None


def texts_of(
    rows: Iterable[Sequence[Cell]], formats: Sequence[str] = ("{:.6g}",)
) -> list[list[str]]:
    """Write rows as a terminal prints them; of too few formats the last one holds again."""
    return [
        [
            cell if isinstance(cell, str) else "-" if cell is None else text.format(cell)
            for cell, text in zip_longest(row, formats[: len(row)], fillvalue=formats[-1])
        ]
        for row in rows
    ]


class Section(Struct):
    """A table with its notes, and the same as plain data and as objects.

    Parameters
    ----------
    key
        Key of the section; with ``data`` also its entry of the case in ``summary.json``.
    heading, columns, rows, note, remarks
        The table of the page, a text and a list below it; without columns there is none.
    plots
        Plots of the page with captions, by the names of their picture files.
    formats
        How the terminal prints each column, as of :meth:`str.format`; shorter: the last one again.
    printed
        Rows that the terminal prints; 0: it prints nothing.
    lines
        Sentences that the terminal prints below the rows.
    data
        For JSON: finite numbers, texts, lists and dicts of them; ``None``: nothing.
    value
        For Python: see :meth:`~orchestrator.study.CaseOutcome.value`.
    """

    key: str
    heading: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    note: str = ""
    remarks: tuple[str, ...] = ()
    plots: Mapping[str, tuple[Plot, str]] = field(default_factory=dict)
    formats: tuple[str, ...] = ("{:.6g}",)
    printed: int = 0
    lines: tuple[str, ...] = ()
    data: Any = None
    value: Any = None

    def check(self) -> None:
        """Raise ValueError if a row has no cell for a column, or ``data`` is nothing for JSON."""
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise ValueError(
                    f"section '{self.key}': row {number} has {len(row)} cells; expected"
                    f" {len(self.columns)}, one for each column"
                )
        try:
            json.dumps(self.data, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"section '{self.key}': expected data of finite numbers, texts, lists and dicts for"
                f" JSON: {error}"
            ) from None

    def texts(self) -> list[list[str]]:
        """Return the rows that are printed, as text."""
        return texts_of(self.rows[: self.printed], self.formats)


#: What a result and its section call alike.
_OF_A_RESULT = (
    "name", "algorithm", "delay_mode", "step_ns", "simulated_seconds", "wall_seconds",
    "loops", "plans", "faults", "notices", "line_statistics",
)  # fmt: skip


class CaseSection(Struct, eq=False):
    """One case: how it was run and what came of it.

    name, description: Heading, and a sentence below it.
    notices, line_statistics: As in :class:`~orchestrator.core.recording.Result`.
    measures: Numbers for the summary.
    parameters: Parameters of this case; empty if the report lists them for all cases.
    energies: Its energy ledger.
    energy_note: What percentages are of, and how well the balance closes.
    figures: Pictures of this case.
    remarks: Shown prominently, such as the reason why a run ended early.
    tables: What else was found of it.
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
    tables: tuple[TableItem, ...] = ()

    @classmethod
    def of(cls, result: Result, **others: Any) -> CaseSection:
        """Make the section of a result, with further entries."""
        return cls(**{name: getattr(result, name) for name in _OF_A_RESULT}, **others)

    @property
    def real_time_factor(self) -> float | None:
        """Simulated time over wall time; ``None`` if the wall time is not known."""
        return self.simulated_seconds / self.wall_seconds if self.wall_seconds > 0 else None


class Report(Struct, eq=False):
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
    verdicts: The answer, in sentences: whether it keeps what is expected, and what it breaks.
    is_bad: Whether the answer is one that nobody hoped for: a stop, a safe state, a failure.
    shared: Remarks of several cases, with the names of these, each said once.
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
    verdicts: tuple[str, ...] = ()
    is_bad: bool = False
    shared: tuple[tuple[str, str], ...] = ()
