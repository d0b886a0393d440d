"""What drives inputs of a case: signals of files, and what leads to rest when a device is lost."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import (
    DescriptionError,
    LoadError,
    UnknownNameError,
    choices_for,
)
from orchestrator.core.diagnostics.reading import reads
from orchestrator.core.files.columns import read_arrays, split_title, titled
from orchestrator.core.files.plain_data import plain_number
from orchestrator.core.optional_packages import optional_imports
from orchestrator.core.simunits import (
    Block,
    Input,
    Notice,
    Output,
    Parameter,
    State,
    block,
    class_of,
)
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import (
    Causality,
    Component,
    Connection,
    DataType,
    Endpoint,
    SourceKind,
    System,
    Value,
    conversion_between,
    horizon,
    seconds,
)
from orchestrator.study.experiment import InputTable
from orchestrator.study.prepare.prepared_case import PreparedCase

if TYPE_CHECKING:
    from orchestrator.study.tables import RestTable

#: What a column of times is called.
_TIME = ("time", "time [s]")
#: Nanoseconds that 64 bits hold.
_LATEST_NS = 2.0**63


class SignalFile(Struct, eq=False):
    """One signal of a file.

    times_ns: In nanoseconds, increasing, int64 array of shape (n,).
    values: float64 array of shape (n,).
    unit: As the file says it; ``None`` if it does not.
    """

    times_ns: NDArray[np.int64]
    values: NDArray[np.float64]
    unit: str | None


@reads("expected a file of signals")
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
        article = "a" if not times else "one"
        raise DescriptionError.in_file(
            path, f"expected {article} column 'time' in seconds, found: {', '.join(titles)}"
        )
    (time,) = times
    index = _column_index(path, titles, column)
    times_ns = [_time_ns(path, i, text) for i, text in enumerate(rows[time])]
    for number, (time_ns, next_ns) in enumerate(pairwise(times_ns), start=2):
        if next_ns <= time_ns:
            raise DescriptionError(
                f"{path}, row {number}: expected a time after {time_ns / 1e9:.9g} s,"
                f" found {next_ns / 1e9:.9g} s"
            )
    if not times_ns:
        raise DescriptionError.in_file(path, "expected at least one row of values, found none")
    values = np.array([_value(path, i, text) for i, text in enumerate(rows[index])])
    unit = split_title(titles[index])[1] or None
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
    with optional_imports():
        import pyarrow as pa
        import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(path).read()
    except (OSError, pa.ArrowException, ValueError, RecursionError, MemoryError) as error:
        raise LoadError.in_file(path, f"cannot be read as Parquet: {error}") from None
    titles = []
    for field in table.schema:
        unit_bytes = (field.metadata or {}).get(b"unit", b"")
        try:
            unit = unit_bytes.decode()
        except UnicodeDecodeError:
            text = f"column '{field.name}': expected a unit in UTF-8, found {unit_bytes!r}"
            raise LoadError.in_file(path, text) from None
        titles.append(field.name if field.name in _TIME else titled(field.name, unit))
    return titles, [[repr(cell) for cell in column.to_pylist()] for column in table.columns]


def _npz(path: Path) -> tuple[list[str], list[list[str]]]:
    arrays = read_arrays(path)
    units = arrays.units
    titles = [titled(name, units.get(name)) for name in arrays.names]
    columns = [arrays.time, *arrays.values.T]
    return ["time", *titles], [list(map(repr, column.tolist())) for column in columns]


def _column_index(path: Path, titles: Sequence[str], column: str) -> int:
    plain = [split_title(title)[0] for title in titles]
    for names in (titles, plain):
        numbers = [number for number, name in enumerate(names) if name == column]
        if len(numbers) > 1:
            raise DescriptionError.in_file(
                path,
                f"{len(numbers)} columns are called '{column}'; expected one: give each its own"
                " title"
                + (", or name it with its unit" if len({titles[n] for n in numbers}) > 1 else ""),
            )
        if numbers:
            return numbers[0]
    choices = choices_for(column, plain, "column")
    raise DescriptionError.in_file(path, f"no column '{column}'{choices}")


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


class Rest(Block):
    """Passes a signal, bit for bit, until its device is lost; then leads it to rest.

    ``value = from + (at - from) min(1, t/within)``, t since the first step in which ``valid`` was 0
    after it had been 1; it stays there.
    """

    wanted: float = Input(description="What is passed")
    valid: float = Input(unit="1", description="Of the device: > 0.5, it is there")
    value: float = Output(depends_on=("wanted", "valid"), description="What is passed on")
    at: float = Parameter(start=0.0, description="At rest")
    within: float = Parameter(start=0.1, unit="s", above=0.0, description="Time to rest")
    device: str = Parameter(start="", description="Whose loss it is")

    begun: float = State(start=-1.0, description="When the device was lost, s; -1: it is there")
    known: float = State(start=0.0, description="1: the device was there")
    before: float = State(start=0.0, description="What was passed last, before")

    def initialise(self, t: float) -> None:
        """Pass what is there."""
        self.known = 1.0 if self.valid > 0.5 else 0.0
        self.value = self.before = self.wanted

    def step(self, t: float, h: float) -> None:
        """Pass the signal, or go on to rest."""
        if self.valid > 0.5:
            self.known = 1.0
        elif self.known and self.begun < 0.0:
            self.begun = t
        if self.begun < 0.0:
            self.value = self.before = self.wanted
            return
        share = min(1.0, (t + h - self.begun) / self.within)
        self.value = self.before + (self.at - self.before) * share

    def notices(self) -> tuple[Notice, ...]:
        """Say when the device was lost."""
        if self.begun < 0.0:
            return ()
        loss = f"device '{self.device}' was lost: from {self.before:.4g} to {self.at:.4g}"
        how = f" within {self.within:.4g} s"
        return (Notice(round(self.begun * 1e9), loss + how, "see why it was lost", safe=True),)


def _ports(base: type[Block], unit: str) -> dict[str, object]:
    """Give the ports of a block that have a unit, all Reals, by name."""
    if base is Playback:
        return {"value": Output(unit=unit, depends_on=(), description="The signal")}
    return {
        "wanted": Input(unit=unit, description="What is passed"),
        "value": Output(unit=unit, depends_on=("wanted", "valid"), description="What is passed on"),
        "at": Parameter(start=0.0, unit=unit, description="At rest"),
    }


@cache
def block_in(base: type[Block], unit: str) -> type[Block]:
    """Return the class of a block whose ports have a unit."""
    ports = _ports(base, unit)
    annotations = dict.fromkeys(ports, float)
    members = {"__module__": __name__, "__annotations__": annotations, **ports}
    return type(f"{base.__name__} in {unit}", (base,), members)


def __getattr__(name: str) -> type[Block]:
    """Find such a class: a process that was sent a prepared system has not made it yet."""
    base, separator, unit = name.partition(" in ")
    if not separator or base not in {"Playback", "Rest"}:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return block_in(globals()[base], unit)


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
        choices = (
            f"has no input '{name}'{choices_for(name, inputs, 'input', 'its')}"
            if inputs
            else f"has no input of its own, and so no '{name}'"
        )
        raise UnknownNameError(
            f"system '{system.name}' {choices}; lead an input of a component to the outside"
            " (System.expose, or [connectors] of a system file)"
        )
    connector = system.connectors[name]
    if connector.type is not DataType.REAL or connector.shape:
        raise DescriptionError(f"input '{name}': only a Real scalar can be played from a file")
    if name in system.values:
        raise DescriptionError(
            f"input '{name}' is set and also played from a file: expected one of the two,"
            f" {table.file} in the experiment, or a value from 'set', a parameter set or --set"
        )
    if name in system.components:
        raise DescriptionError(
            f"input '{name}': a component of the system has the same name; rename one of them"
        )
    path = (folder / table.file).resolve()
    signal = read_signal(path, table.column)
    declared = (
        connector
        if signal.unit is None
        else replace(connector, unit=signal.unit, unit_definition=None)
    )
    try:
        conversion_between(declared, connector)
    except DescriptionError as error:
        raise DescriptionError(f"input '{name}', column '{table.column}': {error}") from None
    player = block(Playback if declared.unit is None else block_in(Playback, declared.unit))
    output = replace(player.connectors["value"], unit_definition=declared.unit_definition)
    player = replace(player, connectors={**player.connectors, "value": output})
    hold = table.interpolation == "hold"
    moved = Endpoint(name, "value")
    return replace(
        system.add(name, player, file=str(path), column=table.column, hold=hold),
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


def with_rests(system: System, rests: Mapping[str, RestTable]) -> System:
    """Put a block before each input that comes to rest when its device is lost."""
    for path, table in rests.items():
        system = _with_rest(system, path, table)
    return system


def _with_rest(system: System, path: str, table: RestTable) -> System:
    end = Endpoint.parse(path)
    target = system.component(end.component)
    connector = target.connector(end.connector)
    is_input = connector.causality is Causality.INPUT
    if not is_input or connector.type is not DataType.REAL or connector.shape:
        raise DescriptionError(f"rest.'{path}': expected a Real scalar input, found {connector}")
    device = _device_of(system, path, table)
    if device is None:
        return system
    name = f"rest_{end.component}_{end.connector}"
    if name in system.components:
        raise DescriptionError(f"rest.'{path}': the system has a component '{name}' already")
    rest_block = block(Rest if connector.unit is None else block_in(Rest, connector.unit))
    definition = connector.unit_definition
    ports = {
        key: replace(rest_block.connectors[key], unit_definition=definition)
        for key in ("wanted", "value", "at")
    }
    values: dict[str, Value] = {"at": table.value, "within": table.seconds, "device": device}
    fed = [line for line in system.connections if line.target == end]
    if not fed:
        values["wanted"] = target.values.get(end.connector, connector.start or 0.0)
    rest_block = replace(
        rest_block, name=name, connectors={**rest_block.connectors, **ports}
    ).with_values(values)
    remaining_values = {key: value for key, value in target.values.items() if key != end.connector}
    lines = tuple(
        replace(line, target=Endpoint(name, "wanted")) if line in fed else line
        for line in system.connections
    )
    components: dict[str, Component] = {}
    for key, component in system.components.items():
        if key == end.component:  # right before its target, so that what it passes is no later
            components[name] = rest_block
        components[key] = (
            replace(target, values=remaining_values) if key == end.component else component
        )
    return replace(
        system,
        components=components,
        connections=(
            *lines,
            Connection(Endpoint(device, "valid"), Endpoint(name, "valid")),
            Connection(Endpoint(name, "value"), end),
        ),
    )


def _device_of(system: System, path: str, table: RestTable) -> str | None:
    """Return the device that may be lost; ``None``: something else stands in its place."""
    components = system.components
    devices = [n for n, c in components.items() if c.source.kind is SourceKind.DEVICE]
    if table.device is not None:
        if table.device not in components:
            choices = choices_for(table.device, components, "component")
            raise UnknownNameError(f"rest.'{path}': no component '{table.device}'{choices}")
        return table.device if table.device in devices else None
    if len(devices) > 1:
        raise DescriptionError(
            f"rest.'{path}': expected a key 'device', since the case has several:"
            f" {', '.join(devices)}"
        )
    return devices[0] if devices else None
