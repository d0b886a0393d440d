"""Recordings as simulation units: the outputs of a component as they were."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import (
    CapabilityError,
    DescriptionError,
    LoadError,
    UnknownNameError,
    choices_for,
    counted,
    first_of,
)
from orchestrator.core.diagnostics.reading import reads
from orchestrator.core.files.columns import csv_columns, csv_titles, read_arrays, split_title
from orchestrator.core.files.mat_file import read_mat_file
from orchestrator.core.optional_packages import optional_imports
from orchestrator.core.simunits.protocol import Capabilities, Phase, SimulationUnit, UnitDescription
from orchestrator.core.simunits.registry import UnitKind, refuse_fmu_options, refuse_process_options
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import (
    Causality,
    Component,
    Connector,
    DataType,
    Source,
    SourceKind,
    Value,
    seconds,
)
from orchestrator.engine import LogUnit as NativeUnit

if TYPE_CHECKING:
    from orchestrator.core.simunits.isolation.worker_process import WorkerProcess


#: What the column of times is called in the files of results.
_TIME = "time [s]"
_LATEST = 2.0**63 / 1e9


class Recorded(Struct, eq=False):
    """The recorded signals of one component.

    file: Where they stand.
    times_ns: In nanoseconds, increasing, int64 array of shape (n,).
    columns: Names within the component, with ``[i]`` for elements of an array.
    values: float64 array of shape (n, len(columns)), row by row in memory.
    units: By column, where one was recorded.
    """

    file: Path
    times_ns: NDArray[np.int64]
    columns: tuple[str, ...]
    values: NDArray[np.float64]
    units: dict[str, str]

    def column(self, name: str) -> int:
        """Return the number of a column, or -1 if it was not recorded."""
        return self.columns.index(name) if name in self.columns else -1


def read_recorded(path: Path, component: str) -> Recorded:
    """Read the signals of a component from a file of results, or the folder of a journal."""
    try:
        status = path.stat()
    except OSError as error:
        raise LoadError.in_file(
            path,
            "no such recording"
            if isinstance(error, FileNotFoundError)
            else f"cannot be read: {error.strerror or error}",
        ) from None
    return _read(path, component, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=8)
@reads("expected a recording")
def _read(path: Path, component: str, changed_ns: int, size: int) -> Recorded:
    del changed_ns, size  # of the file that was read: another one is read again
    table = _table(path)
    numbers_of: dict[str, int] = {}
    for number, name in enumerate(table.names):
        if name in numbers_of:
            raise LoadError.in_file(path, f"two columns are called '{name}'; expected one")
        numbers_of[name] = number
    if _TIME not in numbers_of:
        titles = first_of([f"'{name}'" for name in numbers_of], 5)
        raise LoadError.in_file(
            path,
            f"expected a recording with the columns '{_TIME}' and 'component.connector [unit]',"
            f" found the columns {titles}",
        )
    names = {
        n.removeprefix(f"{component}."): n for n in numbers_of if n.startswith(f"{component}.")
    }
    if not names:
        components = list(dict.fromkeys(n.partition(".")[0] for n in numbers_of if "." in n))
        raise UnknownNameError(
            f"{path} has no signals of a component '{component}'"
            f"{choices_for(component, components, 'component', 'its')}; choose one by"
            " '?component=NAME'"
            " after the file name"
        )
    columns = [numbers_of[_TIME], *(numbers_of[name] for name in names.values())]
    numbers = table.columns(columns)
    if not np.isfinite(numbers).all():
        row, column = map(int, np.argwhere(~np.isfinite(numbers))[0])
        text = f"column '{table.names[columns[column]]}', row {row + 1}: expected a finite number"
        raise LoadError.in_file(path, text)
    times = numbers[:, 0]
    if not len(times) or not (np.abs(times) < _LATEST).all():
        raise LoadError.in_file(path, f"'{_TIME}': expected times within {_LATEST:g} s, and a row")
    if (falls := np.flatnonzero(np.diff(times) <= 0)).size:
        before, after = times[falls[0]], times[falls[0] + 1]
        raise LoadError.in_file(
            path,
            f"'{_TIME}', row {falls[0] + 2}: expected times that increase, found {after:.9g} after"
            f" {before:.9g}",
        )
    return Recorded(
        path,
        np.rint(times * 1e9).astype(np.int64),
        tuple(names),
        np.ascontiguousarray(numbers[:, 1:]),
        {name: table.units[full] for name, full in names.items() if table.units.get(full)},
    )


class _LogTable(Struct):
    """A file of columns: their names, units by name, and the numbers of selected columns."""

    names: Sequence[str]
    units: Mapping[str, str]
    columns: Callable[[Sequence[int]], NDArray[np.float64]]


def _table(path: Path) -> _LogTable:
    growing = path / "rows.mcap"
    if path.suffix == ".mcap" or growing.is_file():
        with optional_imports():
            from orchestrator.core.files.mcap import read_mcap_file
        rows = read_mcap_file(growing if growing.is_file() else path)
        return _of_array(rows.names, rows.units, rows.values, rows.times_ns / 1e9)
    if path.suffix == ".npz" or any(path.glob("part-*.npz")):
        arrays = read_arrays(path)
        return _of_array(arrays.names, arrays.units, arrays.values, arrays.time)
    if path.suffix == ".parquet" or path.is_dir():
        return _parquet_table(path)
    if path.suffix == ".mat":
        mat = read_mat_file(path)
        return _of_array(mat.names, mat.units, mat.values, mat.time)
    if path.suffix == ".csv":
        parts = [(t, "") if t == _TIME else split_title(t) for t in csv_titles(path)]
        names, units = [name for name, _ in parts], dict(parts)
        return _LogTable(names, units, lambda columns: csv_columns(path, columns))
    kinds = ".parquet, .npz, .csv, .mat or .mcap"
    raise LoadError.in_file(path, f"expected a recording that ends in {kinds}")


def _of_array(
    names: Sequence[str],
    units: Mapping[str, str],
    values: NDArray[np.float64],
    time: NDArray[np.float64],
) -> _LogTable:
    table = np.column_stack([values, time])
    return _LogTable([*names, _TIME], units, lambda columns: table[:, list(columns)])


def _parquet_table(path: Path) -> _LogTable:
    with optional_imports():
        import pyarrow as pa
        import pyarrow.parquet as pq

    try:
        parts = sorted(path.glob("part-*.parquet")) if path.is_dir() else [path]
        table = pa.concat_tables([pq.ParquetFile(part).read() for part in parts])
        titles = table.schema.names
    except (OSError, pa.ArrowException, ValueError, MemoryError) as error:
        raise LoadError.in_file(path, f"cannot be read as a recording: {error}") from None
    unit_texts = {field.name: (field.metadata or {}).get(b"unit", b"") for field in table.schema}
    units = {title: unit.decode(errors="replace") for title, unit in unit_texts.items() if unit}

    def columns(numbers: Sequence[int]) -> NDArray[np.float64]:
        columns_read = []
        for number in numbers:
            try:
                columns_read.append(table.column(number).to_numpy().astype(np.float64))
            except (ValueError, TypeError):
                text = f"column '{titles[number]}': expected numbers"
                raise LoadError.in_file(path, text) from None
        return np.column_stack(columns_read)

    return _LogTable(titles, units, columns)


_ELEMENT = re.compile(r"(?P<name>.+)\[(?P<index>\d+)\]")
_CHOICE = re.compile(r"component=(?P<name>.+)")


def recorded_of(source: Source, name: str) -> Recorded:
    """Read what a source has recorded of a component."""
    file, mark, query = source.location.partition("?")
    match = _CHOICE.fullmatch(query)
    if mark and match is None:
        raise DescriptionError(f"{source}: expected log:FILE?component=NAME, found '?{query}'")
    return read_recorded(Path(file), match["name"] if match else name)


def describe_log(source: Source, like: Component) -> UnitDescription:
    """Describe the recording of a component."""
    recorded = recorded_of(source, like.name)
    connectors = (
        _declared_connectors(recorded, like.connectors) if like.connectors else _all(recorded)
    )
    outputs = [
        name for name, connector in connectors.items() if connector.causality is Causality.OUTPUT
    ]
    return UnitDescription(
        name=recorded.file.name,
        connectors=connectors,
        # what an output depended on at once, so that the units are stepped in the same order; files
        # do not say it of a recording: then it is nothing, as it is in truth
        feedthrough={
            name: like.feedthrough.get(name, ())
            if like.source.kind is SourceKind.LOG
            else like.direct_inputs(name)
            for name in outputs
        },
        capabilities=Capabilities(can_roll_back=True),
        has_states=like.has_states,
        details={"kind": "recording", "file": str(recorded.file)},
    )


def _declared_connectors(
    recorded: Recorded, declared: Mapping[str, Connector]
) -> dict[str, Connector]:
    """Return the inputs of a component, and those of its outputs that were recorded."""
    connectors = {}
    for name, connector in declared.items():
        first = columns_of(connector)[0]
        is_recorded = connector.causality is Causality.OUTPUT and recorded.column(first) >= 0
        if connector.causality is not Causality.INPUT and not is_recorded:
            continue
        unit = recorded.units.get(first)
        if unit is not None and unit != connector.unit:
            connector = replace(connector, unit=unit, unit_definition=None)  # noqa: PLW2901
        connectors[name] = connector
    return connectors


def _all(recorded: Recorded) -> dict[str, Connector]:
    elements: dict[str, list[int]] = {}
    for column in recorded.columns:
        if element := _ELEMENT.fullmatch(column):
            elements.setdefault(element["name"], []).append(int(element["index"]))
    # others are scalars whose names end with brackets, as FMI 2.0 has them
    arrays = {
        n
        for n, indices in elements.items()
        if indices == [*range(len(indices))] and len(indices) > 1
    }
    sizes: dict[str, int] = {}
    for column in recorded.columns:
        element = _ELEMENT.fullmatch(column)
        if element and element["name"] in arrays:
            sizes[element["name"]] = len(elements[element["name"]])
        else:
            sizes[column] = 0
    return {
        name: Connector(
            name,
            Causality.OUTPUT,
            unit=recorded.units.get(f"{name}[0]" if size else name),
            shape=(size,) if size else (),
        )
        for name, size in sizes.items()
    }


def columns_of(connector: Connector) -> list[str]:
    """Return the columns in which a connector is recorded."""
    if connector.size == 1:
        return [connector.name]
    return [f"{connector.name}[{i}]" for i in range(connector.size)]


def output_columns(recorded: Recorded, connector: Connector) -> list[int]:
    """Return the numbers of the columns of an output."""
    columns = []
    for name in columns_of(connector):
        if (number := recorded.column(name)) < 0:
            raise UnknownNameError(
                f"{recorded.file} has no output '{name}'"
                f"{choices_for(name, recorded.columns, 'output', 'its')}"
            )
        columns.append(number)
    return columns


class LogUnit(SimulationUnit):
    """Plays the outputs of a component back, and compares its inputs with those of the recording.

    At a time that was recorded the outputs are what they were, bit for bit; between two rows Reals
    are linear, and the row before holds for all others. Before the first row and after the last
    one there is nothing to play, and the run ends with an error.

    component: Whose source it is.
    description: What it says of itself.
    """

    native: NativeUnit

    def __init__(self, component: Component, description: UnitDescription) -> None:
        self._recorded = recorded = recorded_of(component.source, component.name)
        held = {
            column
            for connector in description.connectors.values()
            if connector.type is not DataType.REAL
            for column in columns_of(connector)
        }
        native = NativeUnit(
            component.name,
            recorded.times_ns,
            recorded.values,
            [name in held for name in recorded.columns],
        )
        super().__init__(component.name, description, native)
        self._compared: list[str] = []
        self._unknown: list[str] = []

    def _set_values(self, values: Mapping[str, Value]) -> None:
        """Take values of inputs, which act on nothing."""

    def _bind(self) -> None:
        if texts := [c.name for c in (*self.text_inputs, *self.text_outputs)]:
            raise CapabilityError(
                f"component '{self.name}': {', '.join(map(repr, texts))}: Strings and Binaries are"
                " not recorded; leave these connections out"
            )
        outputs = [n for c in self.outputs for n in output_columns(self._recorded, c)]
        self._compared = [name for c in self.inputs for name in columns_of(c)]
        inputs = [self._recorded.column(name) for name in self._compared]
        self._unknown = [n for n, i in zip(self._compared, inputs, strict=True) if i < 0]
        self.native.bind(inputs, outputs)

    def _setup(self, start_ns: int, stop_ns: int | None) -> None:
        del stop_ns
        self._check(self.native.begin(start_ns), "setting up")

    def _get_state(self) -> object:
        raise self._cannot("save its state in a checkpoint: it is a recording")

    def _set_state(self, state: object) -> None:
        self._get_state()

    @property
    def notes(self) -> tuple[str, ...]:
        """How the run compares with the recording, in sentences."""
        return (*super().notes, *self._comparison()) if self.phase is not Phase.INSTANTIATED else ()

    def _comparison(self) -> Iterator[str]:
        who = f"component '{self.name}' (recording {self._recorded.file.name})"
        native = self.native
        if native.interpolated:
            yield (
                f"{who}: {counted(native.interpolated, 'step')} ended between two recorded"
                " times, where its"
                " outputs were interpolated"
            )
        if self._unknown:
            yield (
                f"{who}: its inputs {', '.join(map(repr, self._unknown))} were not recorded, so"
                " nothing says whether this run feeds it the same"
            )
        same = []
        for name, (largest, time_ns, steps) in zip(self._compared, native.differences, strict=True):
            if name in self._unknown:
                continue
            if not steps:
                same.append(name)
                continue
            unit = self._recorded.units.get(name)
            unit_text = "" if unit in {None, "1"} else f" {unit}"
            yield (
                f"{who}: input '{name}' differs from the recording in {steps} of"
                f" {counted(native.compared, 'step')}, at most by {largest:.6g}{unit_text} in the"
                " step to"
                f" t = {seconds(time_ns):.9g} s"
            )
        if same and native.compared:
            yield (
                f"{who}: {', '.join(map(repr, same))} as recorded, bit for bit, in"
                f" {counted(native.compared, 'step')}"
            )


class LogKind(UnitKind):
    """A recording runs in the process of the run."""

    def describe(self, component: Component, *, runnable: bool) -> UnitDescription:
        """Describe what was recorded, by the connectors of what it stands for."""
        return describe_log(component.source, component)

    def make(
        self, component: Component, processes: dict[str, WorkerProcess] | None
    ) -> SimulationUnit:
        """Make it."""
        refuse_fmu_options(component, "a recording")
        refuse_process_options(component, "a recording, which runs in the process of the run,")
        return LogUnit(component, self.describe(component, runnable=True))
