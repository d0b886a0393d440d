"""A recording as a simulation unit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.simunits.logs.description import columns_of, output_columns, recorded_of
from orchestrator.core.simunits.protocol.description import UnitDescription
from orchestrator.core.simunits.protocol.unit import Phase, SimulationUnit
from orchestrator.core.system import Component, Connector, DataType, Value, seconds
from orchestrator.engine import LogUnit as NativeUnit


class LogUnit(SimulationUnit):
    """Plays the outputs of a component back, and compares its inputs with those of the recording.

    At a time that was recorded the outputs are what they were, bit for bit; between two rows Reals
    are linear, and the row before holds for all others. Before the first row and after the last
    one there is nothing to play, and the run ends with an error.

    Parameters
    ----------
    component
        Whose source it is.
    description
        What it says of itself.
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

    def _setup(self, start_ns: int, stop_ns: int | None, tolerance: float | None) -> None:
        del stop_ns, tolerance
        self._check(self.native.begin(start_ns), "setting up")

    def _initialise_outputs(self, start_ns: int) -> None:
        del start_ns

    def _exit_initialisation(self) -> None:
        """Nothing is left to do."""

    def _get_state(self) -> object:
        raise self._cannot("save its state in a checkpoint: it is a recording")

    def _set_state(self, state: object) -> None:
        self._get_state()

    def _value(self, connector: Connector) -> Value:
        raise self._cannot(f"read '{connector.name}', which is neither connected nor recorded")

    def _terminate(self) -> None:
        """Nothing was opened."""

    @property
    def notes(self) -> tuple[str, ...]:
        """How the run compares with the recording, in sentences."""
        return (*super().notes, *self._told()) if self.phase is not Phase.INSTANTIATED else ()

    def _told(self) -> Iterator[str]:
        who = f"component '{self.name}' (recording {self._recorded.file.name})"
        native = self.native
        if native.interpolated:
            yield (
                f"{who}: {native.interpolated} steps ended between two recorded times, where its"
                " outputs were interpolated"
            )
        if self._unknown:
            yield (
                f"{who}: its inputs {', '.join(map(repr, self._unknown))} were not recorded, so"
                " nothing says whether this run feeds it the same"
            )
        same = []
        for name, (most, time_ns, steps) in zip(self._compared, native.differences, strict=True):
            if name in self._unknown:
                continue
            if not steps:
                same.append(name)
                continue
            unit = self._unit(name)
            yield (
                f"{who}: input '{name}' differs from the recording in {steps} of"
                f" {native.compared} steps, at most by {most:.6g}{unit} in the step to"
                f" t = {seconds(time_ns):.9g} s"
            )
        if same and native.compared:
            yield (
                f"{who}: {', '.join(map(repr, same))} as recorded, bit for bit, in"
                f" {native.compared} steps"
            )

    def _unit(self, column: str) -> str:
        unit = self._recorded.units.get(column)
        return "" if unit in {None, "1"} else f" {unit}"
