"""A system's own input, driven by a signal of a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from orchestrator.core.diagnostics import DescriptionError, UnknownNameError
from orchestrator.core.simunits import Block, Output, Parameter, block, class_of
from orchestrator.core.system import (
    Causality,
    Component,
    DataType,
    Endpoint,
    SourceKind,
    System,
    conversion_between,
    seconds,
)
from orchestrator.study.file.experiment import InputTable
from orchestrator.study.file.signal_file import read_signal
from orchestrator.study.prepare.block_in_unit import BlockInUnit
from orchestrator.study.prepare.prepared_case import PreparedCase
from orchestrator.study.prepare.simulate import horizon


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
