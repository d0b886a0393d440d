"""What acts on a case from outside: signals of files on its inputs, faults on its lines."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.columns import read_arrays
from orchestrator.core.coupling import fault_records
from orchestrator.core.diagnostics import (
    DescriptionError,
    Diagnostic,
    LoadError,
    Problem,
    UnknownNameError,
)
from orchestrator.core.diagnostics.errors import toml_key
from orchestrator.core.diagnostics.extras import of_an_extra
from orchestrator.core.master import fault_refusals, validate_plan
from orchestrator.core.plain_data import plain_number
from orchestrator.core.simunits import Block, Output, Parameter, block, class_of
from orchestrator.core.system import (
    Causality,
    Component,
    DataType,
    Endpoint,
    Fault,
    SourceKind,
    System,
    conversion_between,
    nearest,
    seconds,
)
from orchestrator.study.experiment import Case, InputTable
from orchestrator.study.prepare.prepared_case import PreparedCase
from orchestrator.study.prepare.simulate import horizon

B = TypeVar("B", bound=Block)


class BlockInUnit(Generic[B]):
    """A class of a block for each unit.

    base: The block; its module has ``__getattr__ = <this>.named``, so that a process that was sent
        a prepared system finds the classes, too.
    ports: Gives the ports that have the unit, all Reals, by name.
    """

    def __init__(self, base: type[B], ports: Callable[[str], Mapping[str, object]]) -> None:
        self._base, self._ports = base, ports
        self._prefix = f"{base.__name__} in "
        self.of = cache(self._made)

    def _made(self, unit: str) -> type[B]:
        ports = self._ports(unit)
        annotations = dict.fromkeys(ports, float)
        members = {"__module__": self._base.__module__, "__annotations__": annotations, **ports}
        return type(f"{self._prefix}{unit}", (self._base,), members)

    def named(self, name: str) -> type[B]:
        """Return the class of a name."""
        if not name.startswith(self._prefix):
            raise AttributeError(f"module '{self._base.__module__}' has no attribute '{name}'")
        return self.of(name.removeprefix(self._prefix))


def faults_of(case: Case) -> list[Fault]:
    """Return the faults of a case, in the order of the file."""
    faults: list[Fault] = []
    problems: list[Diagnostic] = []
    for label, table in case.fault.items():
        given = table.model_dump(exclude_none=True)
        kind, places, begin = (given.pop(key) for key in ("kind", "on", "begin"))
        try:
            faults += [
                Fault.of(kind, on, begin, label=label, **given)
                for on in ((places,) if isinstance(places, str) else places)
            ]
        except DescriptionError as error:
            problems += (replace(f, key=toml_key("fault", label)) for f in error.diagnostics)
    if problems:
        raise DescriptionError(*problems)
    return faults


def wrong_faults(case: PreparedCase) -> Iterator[Problem]:
    """Say what keeps the faults of a case from acting."""
    if not case.case.fault:
        return
    options, system = case.options, case.system
    try:
        faults = faults_of(case.case)
    except DescriptionError as error:
        yield from error.diagnostics
        return
    chosen = options.settings(system)
    try:
        plan = validate_plan(system, chosen.algorithm, chosen.algorithm_options, chosen.rates)
        start_ns, stop_ns, step_ns = horizon(system, options.start, options.stop, options.step)
    except DescriptionError:
        return  # reported with the options
    if refused := fault_refusals(system, chosen.algorithm, plan, faults):
        yield from refused
        return
    try:
        fault_records(
            faults, system, start_ns, stop_ns, None if plan.step_size_control else step_ns
        )
    except DescriptionError as error:
        yield from error.diagnostics


#: What a column of times is called.
_TIME = ("time", "time [s]")
#: Nanoseconds that 64 bits hold.
_LATEST_NS = 2.0**63


@dataclass(frozen=True, slots=True, eq=False)
class SignalFile:
    """One signal of a file.

    times_ns: In nanoseconds, increasing, int64 array of shape (n,).
    values: float64 array of shape (n,).
    unit: As the file says it; ``None`` if it does not.
    """

    times_ns: NDArray[np.int64]
    values: NDArray[np.float64]
    unit: str | None


def read_signal(path: Path, column: str) -> SignalFile:
    """Read one column of a file.

    path: ``.csv`` with one line of titles, ``.parquet`` or ``.npz``; one column is called ``time``
        or ``time [s]`` and holds seconds, which are rounded to nanoseconds.
    column: Title of the signal, with or without its unit in brackets.
    Raises LoadError: if the file cannot be read.
    Raises DescriptionError: if there is no such column, a cell is no finite number, or times do not
        increase.
    """
    readers = {".csv": _csv, ".parquet": _parquet, ".npz": _npz}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise LoadError.in_file(
            path, "expected a file of signals that ends in .csv, .parquet or .npz"
        )
    titles, rows = reader(path)
    times = [i for i, title in enumerate(titles) if title in _TIME]
    if len(times) != 1:
        what = "a" if not times else "one"
        raise DescriptionError.in_file(
            path, f"expected {what} column 'time' in seconds, found: {', '.join(titles)}"
        )
    (time,) = times
    place = _place(path, titles, column)
    times_ns = [_time_ns(path, i, text) for i, text in enumerate(rows[time])]
    for number, (one, two) in enumerate(pairwise(times_ns), start=2):
        if two <= one:
            raise DescriptionError(
                f"{path}, row {number}: expected a time after {one / 1e9:.9g} s,"
                f" found {two / 1e9:.9g} s"
            )
    if not times_ns:
        raise DescriptionError.in_file(path, "expected at least one row of values, found none")
    values = np.array([_value(path, i, text) for i, text in enumerate(rows[place])])
    _, bracket, rest = titles[place].partition(" [")
    unit = rest.removesuffix("]") if bracket else None
    return SignalFile(np.array(times_ns, dtype=np.int64), values, unit)


def _csv(path: Path) -> tuple[list[str], list[list[str]]]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = [line for line in csv.reader(file) if line]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise LoadError.in_file(path, f"cannot be read as CSV: {error}") from None
    titles = [cell.strip() for cell in lines[0]] if lines else []
    for number, line in enumerate(lines[1:], start=1):
        if len(line) != len(titles):
            raise LoadError(
                f"{path}, row {number}: expected {len(titles)} cells, found {len(line)}"
            )
    return titles, [list(cells) for cells in zip(*lines[1:], strict=True)] or [[] for _ in titles]


def _parquet(path: Path) -> tuple[list[str], list[list[str]]]:
    with of_an_extra():
        import pyarrow as pa
        import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(path).read()
    except (OSError, pa.ArrowException, ValueError, RecursionError, MemoryError) as error:
        raise LoadError.in_file(path, f"cannot be read as Parquet: {error}") from None
    titles = []
    for field in table.schema:
        unit = _unit(path, field.name, (field.metadata or {}).get(b"unit", b""))
        titles.append(f"{field.name} [{unit}]" if unit else field.name)
    return titles, [[repr(cell) for cell in column.to_pylist()] for column in table.columns]


def _npz(path: Path) -> tuple[list[str], list[list[str]]]:
    found = read_arrays(path)
    units = found.units
    titles = [f"{n} [{units[n]}]" if n in units else n for n in found.names]
    columns = [found.time, *found.values.T]
    return ["time", *titles], [list(map(repr, column.tolist())) for column in columns]


def _place(path: Path, titles: Sequence[str], column: str) -> int:
    plain = [title.partition(" [")[0] for title in titles]
    for names in (titles, plain):
        found = [number for number, name in enumerate(names) if name == column]
        if len(found) > 1:
            raise DescriptionError.in_file(
                path,
                f"{len(found)} columns are called '{column}'; expected one: give each its own title"
                + (", or name it with its unit" if len({titles[n] for n in found}) > 1 else ""),
            )
        if found:
            return found[0]
    hint = nearest(column, plain) or f"; it has: {', '.join(plain)}"
    raise DescriptionError.in_file(path, f"no column '{column}'{hint}")


def _unit(path: Path, name: str, said: bytes) -> str:
    try:
        return said.decode()
    except UnicodeDecodeError:
        raise LoadError.in_file(
            path, f"column '{name}': expected a unit in UTF-8, found {said!r}"
        ) from None


def _time_ns(path: Path, row: int, text: str) -> int:
    value = _value(path, row, text) * 1e9
    if abs(value) >= _LATEST_NS:
        raise DescriptionError(
            f"{path}, row {row + 1}: expected a time within {_LATEST_NS / 1e9:.3g} s, found"
            f" '{text}'"
        )
    return round(value)


def _value(path: Path, row: int, text: str) -> float:
    value = plain_number(text.strip(" \t"))
    if value is None:
        raise DescriptionError(f"{path}, row {row + 1}: expected a finite number, found '{text}'")
    return value


class Playback(Block):
    """Plays a signal of a file back: its value at the end of each step.

    Between two rows it is linear, or the row before holds; after the last row that one holds.
    """

    value: float = Output(depends_on=(), description="The signal")
    file: str = Parameter(start="", description="CSV or Parquet")
    column: str = Parameter(start="", description="Title of the signal in the file")
    hold: bool = Parameter(start=False, description="Whether the row before holds")

    def initialise(self, t: float) -> None:
        """Read the file."""
        signal = read_signal(Path(self.file), self.column)
        self._times, self._values = signal.times_ns, signal.values
        self.step(t, 0.0)

    def step(self, t: float, h: float) -> None:
        """Move on to the end of the step."""
        now_ns = round((t + h) * 1e9)
        if self.hold:
            row = int(np.searchsorted(self._times, now_ns, side="right")) - 1
            self.value = float(self._values[max(row, 0)])
        else:
            self.value = float(np.interp(now_ns, self._times, self._values))

    def get_state(self) -> dict[str, object]:
        """Return nothing: what is played depends on the time alone."""
        return {}

    def set_state(self, state: object) -> None:
        """Take that back."""


def _ports(unit: str) -> dict[str, object]:
    return {"value": Output(unit=unit, depends_on=(), description="The signal")}


PLAYBACK = BlockInUnit(Playback, _ports)
__getattr__ = PLAYBACK.named


def is_playback(component: Component) -> bool:
    """Whether a component plays a signal of a file back."""
    source = component.source
    return source.kind is SourceKind.BLOCK and issubclass(class_of(source), Playback)


def with_played_input(system: System, name: str, table: InputTable, folder: Path) -> System:
    """Let a signal of a file drive one of a system's own inputs.

    A component of the input's name comes into the system, with the output ``value``.
    """
    inputs = [n for n, c in system.connectors.items() if c.causality is Causality.INPUT]
    if name not in inputs:
        raise UnknownNameError(
            f"input '{name}': system '{system.name}' has no such input of its own; it has:"
            f" {', '.join(inputs) or 'none'}"
        )
    own = system.connectors[name]
    if own.type is not DataType.REAL or own.shape:
        raise DescriptionError(f"input '{name}': only a Real scalar is played from a file")
    if name in system.values:
        raise DescriptionError(
            f"input '{name}' is set and played from a file: expected one of both, {table.file} in"
            " the experiment, or a value from 'set', a parameter set or --set"
        )
    if name in system.components:
        raise DescriptionError(
            f"input '{name}': a component of the system has the same name; rename one of them"
        )
    path = (folder / table.file).resolve()
    signal = read_signal(path, table.column)
    given = own if signal.unit is None else replace(own, unit=signal.unit, unit_definition=None)
    try:
        conversion_between(given, own)
    except DescriptionError as error:
        raise DescriptionError(f"input '{name}', column '{table.column}': {error}") from None
    made = block(Playback if given.unit is None else PLAYBACK.of(given.unit))
    output = replace(made.connectors["value"], unit_definition=given.unit_definition)
    made = replace(made, connectors={**made.connectors, "value": output})
    hold = table.interpolation == "hold"
    moved = Endpoint(name, "value")
    return replace(
        system.add(name, made, file=str(path), column=table.column, hold=hold),
        connectors={key: c for key, c in system.connectors.items() if key != name},
        connections=tuple(
            replace(line, source=moved) if line.source == Endpoint("", name) else line
            for line in system.connections
        ),
    )


def uncovered(case: PreparedCase) -> Iterator[str]:
    """Say which played inputs do not reach over the whole run."""
    options, system = case.options, case.system
    try:
        start_ns, stop_ns, _ = horizon(system, options.start, options.stop, options.step)
    except DescriptionError:
        return  # reported with the options
    for name, table in case.case.input.items():
        times_ns = read_signal(Path(str(system.value(f"{name}.file"))), table.column).times_ns
        first, last = int(times_ns[0]), int(times_ns[-1])
        if first > start_ns or (last < stop_ns and table.interpolation == "linear"):
            yield (
                f"input '{name}': {table.file} has values from {seconds(first):.9g} s to"
                f" {seconds(last):.9g} s; expected them to cover the run from"
                f" {seconds(start_ns):.9g} s to {seconds(stop_ns):.9g} s, or interpolation 'hold'"
                " after the last one"
            )
