"""What a run leaves behind: the recorded signals and how they came about."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from textwrap import shorten, wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.coupling import (
    DelayPlan,
    DelayPlans,
    FaultRecord,
    LineStatistics,
    LoopDelay,
    LoopDelays,
    remarks,
)
from orchestrator.core.diagnostics import DescriptionError, UnknownNameError, counted
from orchestrator.core.display import Page, escaped, html_table, text_table
from orchestrator.core.files.columns import titled
from orchestrator.core.recording.formats import writer
from orchestrator.core.recording.whole_folder import whole_file
from orchestrator.core.simunits import Notice
from orchestrator.core.structs import Struct
from orchestrator.core.system.naming import unknown_name_error

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure

    from orchestrator.core.coupling import Mark, Tuned
    from orchestrator.core.realtime import RealTimeRecord
    from orchestrator.core.system import System, Value


#: Signals and notes that are listed, and the longest name of a signal.
_MOST, _MOST_NOTES, _WIDTH = 15, 3, 60
#: Characters of a line of a note.
_LINE = 100
_HEAD = ("signal", "first", "least", "greatest", "last")


class ParameterRow(Struct):
    """One parameter of a component; ``is_set`` if the experiment set it, else it is a default."""

    component: str
    name: str
    value: Value | None
    unit: str = ""
    description: str = ""
    is_set: bool = False


def text_of(result: Result) -> str:
    """Return a table of the first signals, and the first notes of the run."""
    table = [f"  {line}" for line in text_table(_HEAD, _rows(result)).splitlines()]
    return "\n".join([_title(result), *table, *_more(result)])


def html_of(result: Result) -> str:
    """Return the same as HTML, with the delays of its loops."""
    more = f"<p>{'<br>'.join(escaped(text.strip()) for text in _more(result))}</p>"
    loops = LoopDelays(result.loops)._repr_html_() if result.loops else ""
    table = html_table(_HEAD, _rows(result))
    return f"<p>{escaped(_title(result))}</p>{table}{more}{loops}"


def _title(result: Result) -> str:
    signals, rows = len(result.names), len(result.time_ns)
    counts = [counted(signals, "signal"), counted(rows, "row")]
    if rows:
        counts.append(f"{result.time[0]:.6g} to {result.time[-1]:.6g} s")
    if result.step_ns:
        counts.append(f"{result.algorithm}, step {result.step_ns / 1e6:g} ms")
    return f"Result '{_short(result.name)}': {', '.join(counts)}"


def _rows(result: Result) -> list[tuple[str, ...]]:
    return [(_short(result.label(name)), *_numbers(result, name)) for name in result.names[:_MOST]]


def _numbers(result: Result, name: str) -> tuple[str, ...]:
    values = result[name]
    if not len(values):
        return ("",) * (len(_HEAD) - 1)
    finite = values[~np.isnan(values)]
    smallest, greatest = (finite.min(), finite.max()) if len(finite) else (np.nan, np.nan)
    return tuple(f"{value:.6g}" for value in (values[0], smallest, greatest, values[-1]))


def _short(text: str) -> str:
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


def _more(result: Result) -> list[str]:
    """Return the number of signals that are not shown, and the first notes of the run."""
    remainder = len(result.names) - _MOST
    lines = [f"  and {remainder} more"] if remainder > 0 else []
    notes = [*map(str, result.notices), *result.notes]
    for note in notes[:_MOST_NOTES]:
        text = shorten(f"note: {note}", 3 * _LINE, placeholder=" ..")
        lines += wrap(text, _LINE, initial_indent="  ", subsequent_indent="    ")
    if len(notes) > _MOST_NOTES:
        lines.append(f"  and {counted(len(notes) - _MOST_NOTES, 'note')} more in remarks")
    return lines


_ELEMENT = re.compile(r"\[[0-9, ]+\]$")
#: Rows that are written to a CSV file at once.
_ROWS = 8192
#: Name of the time column in frames and files.
TIME = "time [s]"


@dataclass(frozen=True, eq=False)
class Result:
    """Signals of one run.

    ``result["chaser.position"]`` is one signal as an array of shape (n,). Iteration gives the
    names, and ``in`` tests for one.

    Parameters
    ----------
    name
        Name of the case.
    time_ns
        Time in nanoseconds, int64 array of shape (n,).
    names
        ``component.connector``, with ``[i]`` for elements of an array connector.
    values
        float64 array of shape (n, len(names)), in the units of ``units``.
    units
        Unit by name in Modelica notation, where one is declared.
    descriptions
        Description of a signal by name, where its component has one.
    parameters
        Values of parameters and of inputs without a source.
    step_ns
        Communication step in nanoseconds.
    algorithm
        Registered name of the algorithm.
    delay_mode
        ``"waveform"``, ``"mean"`` or ``"plain"``.
    rates
        Communication steps that one step of a component takes, by name, where it is not 1.
    every
        Communication steps from one row to the next one.
    loops, plans
        Delay of every closed loop, and how every delayed or predicted connection is read.
    line_statistics
        Statistics of varying and slerped connections, by connection.
    wall_seconds
        Time that the stepping took.
    simulated_seconds
        Time that was simulated.
    notes
        Sentences about the run, such as values that were outside their limits.
    faults
        Faults that acted, with their times.
    notices
        Warnings of components and their safe states, in the order of time.
    tuned, marks
        Changes and marks during the run, in the order of time.
    inputs_set
        Open inputs that were set during the run, by name: signals of a program, and tuned ones.
    energies
        Totals of its energy ledger by name, J; empty without one.
    timing
        Timing of a run in real time.
    linearised
        Effect of the schedule on the modes of its loops, as plain data; empty if unknown.
    warnings
        Loops whose growth rate the schedule changes by more than 5 % or in sign. A function is
        called on first use.
    arming
        Margins with which its devices were armed, as plain data; empty without commanded devices.
    clock_ns
        When each row was written by CLOCK_MONOTONIC, int64 array of shape (n,), 0 where that is not
        known; ``None``: the run was not in real time, or the file does not have it.
    system
        The system that ran, flat; ``None`` if read from a file that does not hold it.

    Raises
    ------
    DescriptionError
        If the arrays do not fit together.
    """

    name: str
    time_ns: NDArray[np.int64]
    names: tuple[str, ...]
    values: NDArray[np.float64]
    units: dict[str, str] = field(default_factory=dict)
    descriptions: dict[str, str] = field(default_factory=dict)
    parameters: tuple[ParameterRow, ...] = ()
    step_ns: int = 0
    algorithm: str = ""
    delay_mode: str = ""
    rates: dict[str, int] = field(default_factory=dict)
    every: int = 1
    loops: tuple[LoopDelay, ...] = ()
    plans: tuple[DelayPlan, ...] = ()
    line_statistics: dict[str, LineStatistics] = field(default_factory=dict)
    wall_seconds: float = 0.0
    simulated_seconds: float = 0.0
    notes: tuple[str, ...] = ()
    faults: tuple[FaultRecord, ...] = ()
    notices: tuple[Notice, ...] = ()
    tuned: tuple[Tuned, ...] = ()
    marks: tuple[Mark, ...] = ()
    inputs_set: tuple[str, ...] = ()
    energies: dict[str, float] = field(default_factory=dict)
    timing: RealTimeRecord | None = None
    linearised: dict[str, Any] = field(default_factory=dict)
    arming: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] | Callable[[], tuple[str, ...]] = ()
    system: System | None = field(default=None, repr=False)
    clock_ns: NDArray[np.int64] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        expected = (*self.time_ns.shape, len(self.names))
        if self.values.shape != expected or self.time_ns.ndim != 1:
            raise DescriptionError(
                f"result '{self.name}': expected values of shape {expected} for"
                f" {len(self.names)} names and time of shape {self.time_ns.shape},"
                f" found {self.values.shape}"
            )
        if self.clock_ns is not None and self.clock_ns.shape != self.time_ns.shape:
            raise DescriptionError(
                f"result '{self.name}': expected clock_ns of shape {self.time_ns.shape}, as its"
                f" times, found {self.clock_ns.shape}"
            )
        # A prompt shows them as tables.
        object.__setattr__(self, "loops", LoopDelays(self.loops))
        object.__setattr__(self, "plans", DelayPlans(self.plans))

    @cached_property
    def time(self) -> NDArray[np.float64]:
        """Time in seconds, float64 array of shape (n,)."""
        seconds: NDArray[np.float64] = self.time_ns / 1e9
        return seconds

    @property
    def real_time_factor(self) -> float:
        """Simulated time over wall time: above 1 the run is faster than real time."""
        if self.wall_seconds > 0:
            return self.simulated_seconds / self.wall_seconds
        return float("nan")

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """Return one signal, shape (n,).

        Raises
        ------
        UnknownNameError
            If it was not recorded; the message lists what was. Any variable of a component can be
            named in ``record``.
        """
        try:
            signal: NDArray[np.float64] = self.values[:, self._column[name]]
        except (KeyError, TypeError):
            error = unknown_name_error(f"result '{self.name}'", "signal", str(name), self.names)
            raise UnknownNameError(
                f"{error}; a variable that is not an output is recorded if 'record' names it"
            ) from None
        return signal

    def keys(self) -> tuple[str, ...]:
        """Return the names of the signals; ``dict(result)`` is all of them by name."""
        return self.names

    def __len__(self) -> int:
        """Return how many signals there are, as of any mapping."""
        return len(self.names)

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._column

    __repr__ = text_of
    _repr_html_ = html_of

    @cached_property
    def _column(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    def part(self, names: Collection[str], every: int) -> Result:
        """Keep some signals, and of every few rows one; the first and the last row always.

        Parameters
        ----------
        names
            Signals to keep, in the order of this result.
        every
            Keep every n-th row, n >= 1.
        """
        rows = np.arange(0, len(self.time_ns), every)
        if len(self.time_ns) and rows[-1] != len(self.time_ns) - 1:
            rows = np.append(rows, len(self.time_ns) - 1)
        names_kept = tuple(name for name in self.names if name in names)
        columns = [self._column[name] for name in names_kept]
        values = self.values[rows][:, columns]
        units = {name: unit for name, unit in self.units.items() if name in names_kept}
        return replace(
            self,
            time_ns=self.time_ns[rows],
            names=names_kept,
            values=values,
            units=units,
            every=self.every * every,
            clock_ns=None if self.clock_ns is None else self.clock_ns[rows],
        )

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """What to know of the run and of how its delays were realised, in sentences.

        First of all comes what is known to be wrong in it.
        """
        first = self.warnings() if callable(self.warnings) else self.warnings
        lasted_ns = int(self.time_ns[-1] - self.time_ns[0]) if len(self.time_ns) else None
        delays = remarks(self.plans, self.loops, self.step_ns, self.delay_mode, lasted_ns)
        events: tuple[Tuned | Mark, ...] = (*self.tuned, *self.marks)
        done = sorted(events, key=lambda event: event.step)
        texts = (*map(str, self.notices), *self.notes, *map(str, done), *map(str, self.faults))
        return (*first, *texts, *delays)

    @property
    def safe_states(self) -> tuple[Notice, ...]:
        """Where components went to a safe state: from the first one on it is another run."""
        return tuple(notice for notice in self.notices if notice.safe)

    def label(self, name: str) -> str:
        """Name of a signal with its unit: ``"chaser.position [m]"``."""
        return f"{name} [{self.units[name]}]" if name in self.units else name

    def to_frame(self, rows: slice = slice(None)) -> pd.DataFrame:
        """Return a pandas frame, indexed by time in seconds, units in ``frame.attrs["units"]``."""
        import pandas as pd

        index = pd.Index(self.time[rows], name=TIME)
        frame = pd.DataFrame(self.values[rows], index=index, columns=list(self.names), copy=True)
        frame.attrs["units"] = dict(self.units)
        return frame

    def to_xarray(self) -> xr.Dataset:
        """Return an xarray dataset over ``time`` in seconds.

        Every output is a variable with its unit and description; the elements of an array stand
        along a dimension of its own.

        Raises
        ------
        CapabilityError
            If xarray is not installed.
        """
        from orchestrator.core.optional_packages import optional_imports

        with optional_imports():
            import xarray as xr

        outputs: dict[str, list[int]] = {}
        for column, name in enumerate(self.names):
            outputs.setdefault(_ELEMENT.sub("", name), []).append(column)
        variables = {}
        for output, columns in outputs.items():
            first = self.names[columns[0]]
            attributes = {"units": self.units.get(first), "long_name": self.descriptions.get(first)}
            is_array = first != output
            values = self.values[:, columns if is_array else columns[0]].copy()
            dimensions = ("time", output + "_element") if is_array else ("time",)
            variables[output] = (dimensions, values, {k: v for k, v in attributes.items() if v})
        time = ("time", self.time, {"units": "s"})
        return xr.Dataset(
            variables, {"time": time}, {"case": self.name, "algorithm": self.algorithm}
        )

    def save(self, path: str | Path) -> None:
        """Write all signals to a file, in the format that its ending names.

        Parameters
        ----------
        path
            The new file: ``.parquet``, ``.npz``, ``.mcap``, ``.csv``, ``.mat``, or the ending of a
            registered format. :func:`~orchestrator.read_result` reads it.

        Raises
        ------
        UnknownNameError
            If no format has that name.
        CapabilityError
            If the format needs a package that is not installed.
        LoadError
            If the file cannot be written.
        """
        writer(Path(path).suffix.removeprefix("."))(self, Path(path))

    def to_csv(self, path: str | Path) -> None:
        """Write all signals as CSV (UTF-8, lines end with a line feed).

        The header is ``time [s],chaser.position [m],...``; a name that ends like a unit, and has
        none, has an empty one behind it: ``m.speed [rpm] []``. Numbers are the shortest text that
        reads back as the same float64.

        Raises
        ------
        SoftdockError
            If the file cannot be written; an earlier one is untouched.
        """
        with whole_file(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
            labels = [TIME, *(titled(name, self.units.get(name)) for name in self.names)]
            csv.writer(file, lineterminator="\n").writerow(labels)
            for begin in range(0, len(self.time), _ROWS):
                rows = slice(begin, begin + _ROWS)
                block = np.column_stack([self.time[rows], self.values[rows]])
                file.writelines(",".join(map(repr, row)) + "\n" for row in block.tolist())

    def plot(self, *names: str, title: str | None = None) -> Figure:
        """Draw signals over time, those of one unit in one panel.

        Parameters
        ----------
        *names
            Signals, or patterns with ``*`` and ``?``; all if none is given.
        title
            Above the plot; the name of the result if ``None``.

        Returns
        -------
        matplotlib.figure.Figure
            A notebook shows it; ``figure.savefig("file.png")`` writes it.

        Raises
        ------
        UnknownNameError
            If a name or pattern fits no signal.
        """
        from orchestrator.core.upward import result_figure

        return result_figure(self, names, self.name if title is None else title)

    def chart(self, *names: str, title: str | None = None) -> Page:
        """Show signals as :meth:`plot` does, in a chart of a page: to zoom, and to read values off.

        Parameters
        ----------
        *names, title
            As of :meth:`plot`.

        Returns
        -------
        Page
            A notebook shows it, without Matplotlib and without a network; ``.html`` is the text of
            a page of its own.

        Raises
        ------
        UnknownNameError
            If a name or pattern fits no signal.
        """
        from orchestrator.core.upward import result_chart

        return result_chart(self, names, self.name if title is None else title)
