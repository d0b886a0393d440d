"""From a file to a slave: an FMU as it is, a system as the FMU that it becomes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from orchestrator.core.diagnostics import StepError
from orchestrator.core.simunits import SimulationUnit, component_of, description_of, make_unit
from orchestrator.core.system import (
    Component,
    Connector,
    Source,
    SourceKind,
    System,
    Value,
    whole_step_ns,
)
from orchestrator.core.wings import of_wing
from orchestrator.dcp.data_types import DcpType
from orchestrator.dcp.description import SlaveDescription, VariableKind
from orchestrator.dcp.identifiers import OpMode, Transport
from orchestrator.dcp.payload import Values
from orchestrator.dcp.slave.exchange import SlaveModel
from orchestrator.dcp.unit.unit_description import describe_slave


class UnitModel(SlaveModel):
    """Runs a unit, made anew for each configuration.

    Parameters
    ----------
    about
        The slave.
    make
        Makes the unit.
    """

    def __init__(self, about: SlaveDescription, make: Callable[[], SimulationUnit]) -> None:
        self._names = {variable.reference: variable.name for variable in about.variables}
        self._types = {variable.name: variable.type for variable in about.variables}
        self._inputs = [v.name for v in about.of(VariableKind.INPUT)]
        self._outputs = [v.name for v in about.of(VariableKind.OUTPUT)]
        self._make = make
        self._unit: SimulationUnit | None = None
        self._running = False

    @property
    def _made(self) -> SimulationUnit:
        if self._unit is None:
            raise StepError("the model is not configured")
        return self._unit

    def configure(self, parameters: Mapping[int, Values]) -> None:
        """Make the unit, set its parameters and begin its initialisation."""
        self.close()
        unit = self._unit = self._make()
        known = unit.description.connectors
        unit.bind(self._inputs, self._outputs)
        given = {self._names[number]: values for number, values in parameters.items()}
        unit.set_values({name: _value(known[name], values) for name, values in given.items()})
        unit.setup(0, None)
        self._ins = _Signals(unit.inputs)
        self._outs = _Signals(unit.outputs)
        self._texts_in = {c.name: [b""] * c.size for c in unit.text_inputs}
        self._texts_out: dict[str, list[bytes]] = {}
        self._running = False

    def set(self, reference: int, values: Values) -> None:
        """Hold the value of an input until the next step."""
        name = self._names[reference]
        if name in self._texts_in:
            self._texts_in[name] = [v.encode() if isinstance(v, str) else bytes(v) for v in values]  # type: ignore[arg-type]
        else:
            self._ins.part(name)[:] = values

    def get(self, reference: int) -> Values:
        """Return an output."""
        name = self._names[reference]
        kind = self._types[name]
        if kind.is_text:
            texts = self._texts_out[name]
            return tuple(t.decode() if kind is DcpType.STRING else t for t in texts)
        values = self._outs.part(name).tolist()
        return tuple(int(value) for value in values) if kind.is_integer else tuple(values)

    def initialise(self) -> None:
        """Let the unit make its outputs consistent with its inputs."""
        self._put()
        self._made.initialise_outputs(0)
        self._take()

    def begin(self) -> None:
        """Finish the initialisation with the inputs that it had last."""
        self.initialise()
        self._made.exit_initialisation()
        self._running = True

    def step(self, begin_ns: int, end_ns: int) -> None:
        """Set the inputs, step, read the outputs."""
        self._put()
        result = self._made.do_step(begin_ns, end_ns - begin_ns)
        if result.failed:
            raise StepError(
                f"the step from {begin_ns / 1e9:g} s failed: {result.reason or 'no reason given'}"
            )
        self._take()

    def close(self) -> None:
        """End the unit."""
        if self._unit is not None:
            self._unit.terminate()
            self._unit = None

    def _put(self) -> None:
        self._made.set(self._ins.values)
        if self._made.text_inputs:
            texts = (self._texts_in[c.name] for c in self._made.text_inputs)
            self._made.set_texts([each for some in texts for each in some])

    def _take(self) -> None:
        self._made.get(self._outs.values)
        if self._made.text_outputs:
            found = iter(self._made.get_texts())
            self._texts_out = {
                c.name: [next(found) for _ in range(c.size)] for c in self._made.text_outputs
            }


class _Signals:
    """Connectors in one array, each by its name; inputs begin with their start values."""

    def __init__(self, connectors: tuple[Connector, ...]) -> None:
        self.values = np.zeros(sum(connector.size for connector in connectors))
        self._places: dict[str, slice] = {}
        first = 0
        for connector in connectors:
            self._places[connector.name] = slice(first, first + connector.size)
            if connector.start is not None:
                self.part(connector.name)[:] = connector.start
            first += connector.size

    def part(self, name: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        """Return a view on the elements of a connector."""
        return self.values[self._places[name]]


def _value(connector: Connector, values: Values) -> Value:
    kind = {"Real": float, "Integer": int, "Boolean": bool}.get(connector.type.value)
    found = tuple(values if kind is None else (kind(each) for each in values))
    return found if connector.shape else found[0]


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """How a slave is served.

    Parameters
    ----------
    step
        Its time resolution, seconds or text; ``None``: the system's communication step.
    transport, host, port
        Where it listens; port 0: any.
    modes
        In which it may run.
    heartbeat_s
        After which silence of the master it stops; ``None``: it does not listen for one.
    """

    step: str | float | None = None
    transport: Transport = Transport.UDP_IPV4
    host: str = "127.0.0.1"
    port: int = 0
    modes: frozenset[OpMode] = frozenset(OpMode)
    heartbeat_s: float | None = None


@dataclass(frozen=True, slots=True)
class ServedSlave:
    """A slave that can be served.

    Parameters
    ----------
    about
        What it says of itself.
    model
        What it computes with.
    """

    about: SlaveDescription
    model: SlaveModel


@contextmanager
def served_slave(what: System | Path, options: ServeOptions) -> Iterator[ServedSlave]:
    """Make a slave of a system, or of the FMU of a path; what it needs is removed afterwards."""
    with TemporaryDirectory(prefix="softdock-dcp-") as folder:
        if isinstance(what, System):
            step_ns = whole_step_ns(what, options.step, "a DCP slave")
            name, file = what.name, Path(folder) / "system.fmu"
            of_wing("export.system")(what, file, fmi=3, step=f"{step_ns} ns")
        else:
            name, file = what.stem, what
        component = component_of(Source(SourceKind.FMU, str(file.resolve())), name)
        if not isinstance(what, System):
            step_ns = whole_step_ns(System(name), options.step, "a DCP slave")
        yield _slave(name, component, step_ns, options)


def _slave(name: str, component: Component, step_ns: int, options: ServeOptions) -> ServedSlave:
    place = (options.host, options.port)
    about = describe_slave(
        name,
        description_of(component),
        step_ns,
        options.modes,
        options.heartbeat_s,
        options.transport,
        place,
    )
    model = UnitModel(about, lambda: make_unit(component))
    return ServedSlave(about, model)
