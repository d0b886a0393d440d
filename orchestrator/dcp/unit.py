"""FMUs and systems as slaves of the Distributed Co-Simulation Protocol."""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from orchestrator.core.diagnostics import CapabilityError, StepError
from orchestrator.core.optional_packages import optional_imports
from orchestrator.core.simunits import (
    SimulationUnit,
    UnitDescription,
    component_of,
    description_of,
    make_unit,
)
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import (
    BaseUnit,
    Causality,
    Connector,
    DataType,
    Source,
    SourceKind,
    System,
    Value,
    whole_step_ns,
)
from orchestrator.core.units.conversion import base_said
from orchestrator.dcp.data_types import DcpType, Scalar, Values
from orchestrator.dcp.dcp_file import write_dcpx
from orchestrator.dcp.description import (
    Dependencies,
    Ipv4,
    LogTemplate,
    PduSteps,
    PortRange,
    Resolution,
    SlaveCapabilities,
    SlaveDescription,
    SlaveVariable,
    VariableKind,
)
from orchestrator.dcp.identifiers import LogLevel, OpMode, Transport
from orchestrator.dcp.log import RECEIPT
from orchestrator.dcp.slave import ERROR_ENTRY, RECEIPT_ENTRY
from orchestrator.dcp.slave_data import SlaveModel

_KINDS = {
    Causality.INPUT: VariableKind.INPUT,
    Causality.OUTPUT: VariableKind.OUTPUT,
    Causality.PARAMETER: VariableKind.PARAMETER,
}
_EMPTY: Mapping[DcpType, Scalar] = {
    DcpType.FLOAT64: 0.0,
    DcpType.STRING: "",
    DcpType.BINARY: b"",
}
#: Any whole number of steps that a message can have and an hour of 1 ns does not pass.
_MOST_STEPS = 10**9
_NAMESPACE = uuid.UUID("6d7f4b1c-92a5-5c3e-8f0a-1d4e2b7c9a60")
_NS = 10**9


def describe_slave(
    name: str, unit: UnitDescription, step_ns: int, options: ServeOptions
) -> SlaveDescription:
    """Describe a unit as a slave.

    Its value references count its connectors; its UUID is a fingerprint of all but its address.
    """
    connectors = [c for c in unit.connectors.values() if c.causality in _KINDS]
    clocks = [c.name for c in connectors if c.type is DataType.CLOCK]
    if clocks:
        raise CapabilityError(
            f"'{name}': {', '.join(clocks)}: a clock; DCP has no data type for it, remove it"
        )
    numbers = {connector.name: number for number, connector in enumerate(connectors, 1)}
    resolution = Fraction(step_ns, _NS)
    units = {
        c.unit: c.unit_definition or base_said(c.unit) for c in connectors if c.unit is not None
    }
    description = SlaveDescription(
        name=name,
        uuid=_NAMESPACE,
        variables=tuple(_variable(c, numbers, unit, units) for c in connectors),
        op_modes=options.modes,
        nrt_steps=PduSteps(1, fixed=False, least=1, most=_MOST_STEPS),
        resolutions=(Resolution(resolution.numerator, resolution.denominator, fixed=True),),
        capabilities=SlaveCapabilities(
            accept_config_pdus=True,
            handle_reset=True,
            handle_variable_steps=True,
            monitor_heartbeat=options.heartbeat_s is not None,
            log_on_request=True,
            log_on_notification=True,
        ),
        heartbeat=None if options.heartbeat_s is None else _fraction(options.heartbeat_s),
        units=units,
        categories={1: "slave", 2: "receipts"},
        templates=(
            LogTemplate(ERROR_ENTRY, 1, LogLevel.FATAL, "%string", (DcpType.STRING,)),
            LogTemplate(RECEIPT_ENTRY, 2, LogLevel.DEBUG, RECEIPT, (DcpType.UINT16,) * 2),
        ),
        tool="Softdock",
    )
    print_of = uuid.uuid5(_NAMESPACE, write_dcpx(description).decode())
    address = ipv4(options.host, options.port)
    return replace(description, uuid=print_of, transports={options.transport: address})


def ipv4(host: str, port: int) -> Ipv4:
    """Return how a slave is reached: data come in by the port of the control PDUs, so in order."""
    ports = (PortRange(port, port),) if port else ()
    return Ipv4(host, port or None, host, ports, host, ports, max_pdu_size=65507)


def _fraction(seconds: float) -> tuple[int, int]:
    fraction = Fraction(seconds).limit_denominator(1000)
    return max(fraction.numerator, 1), fraction.denominator


def _variable(
    connector: Connector,
    numbers: Mapping[str, int],
    unit: UnitDescription,
    units: Mapping[str, BaseUnit | None],
) -> SlaveVariable:
    kind, held = _KINDS[connector.causality], type_of(connector)
    is_output, is_parameter = kind is VariableKind.OUTPUT, kind is VariableKind.PARAMETER
    low, high = _limits(connector, held)
    names = unit.feedthrough.get(connector.name, ())
    acting = tuple(numbers[name] for name in names if name in numbers)
    return SlaveVariable(
        name=connector.name,
        reference=numbers[connector.name],
        kind=kind,
        type=held,
        start=() if is_output else _start(connector, held),
        dimensions=connector.shape,
        linked=(False,) * len(connector.shape),
        unit=connector.unit if held is DcpType.FLOAT64 and connector.unit in units else None,
        minimum=low,
        maximum=high,
        variability="fixed" if is_parameter else "continuous",
        steps=PduSteps(1, fixed=False, least=1, most=_MOST_STEPS) if is_output else PduSteps(),
        dependencies=Dependencies(None, acting) if is_output else None,
        description=" ".join(connector.description.split()),
    )


def type_of(connector: Connector) -> DcpType:
    """Return the data type of a connector: a Boolean is a uint8, 0 or 1."""
    if connector.type is DataType.INTEGER:
        low, high = DcpType.INT32.range
        limits = connector.limits
        small = limits is not None and low <= limits.least and limits.most <= high
        return DcpType.INT32 if small else DcpType.INT64
    return {
        DataType.REAL: DcpType.FLOAT64,
        DataType.BOOLEAN: DcpType.UINT8,
        DataType.STRING: DcpType.STRING,
        DataType.BINARY: DcpType.BINARY,
    }[connector.type]


def _limits(connector: Connector, kind: DcpType) -> tuple[float | None, float | None]:
    if connector.type is DataType.BOOLEAN:
        return 0, 1
    if connector.limits is None or kind.is_text:
        return None, None
    low, high = connector.limits.least, connector.limits.most
    return None if low == -math.inf else low, None if high == math.inf else high


def _start(connector: Connector, kind: DcpType) -> tuple[Scalar, ...]:
    value = connector.start
    if value is None:
        return (_EMPTY.get(kind, 0),) * (connector.size if not kind.is_text else 1)
    values = value if isinstance(value, tuple) else (value,)
    return tuple(int(v) if kind.is_integer else v for v in values)


class ServedUnit(SlaveModel):
    """Runs a unit, created again for each configuration.

    about: The slave.
    make: Makes the unit.
    """

    def __init__(self, description: SlaveDescription, make: Callable[[], SimulationUnit]) -> None:
        self._names = {variable.reference: variable.name for variable in description.variables}
        self._types = {variable.name: variable.type for variable in description.variables}
        self._inputs = [v.name for v in description.of(VariableKind.INPUT)]
        self._outputs = [v.name for v in description.of(VariableKind.OUTPUT)]
        self._make = make
        self._unit: SimulationUnit | None = None
        self._running = False

    @property
    def _created_unit(self) -> SimulationUnit:
        if self._unit is None:
            raise StepError("the model is not configured")
        return self._unit

    def configure(self, parameters: Mapping[int, Values]) -> None:
        """Make the unit, set its parameters and begin its initialisation."""
        self.close()
        unit = self._unit = self._make()
        connectors = unit.description.connectors
        unit.bind(self._inputs, self._outputs)
        start_values = {self._names[number]: values for number, values in parameters.items()}
        unit.set_values(
            {name: _value(connectors[name], values) for name, values in start_values.items()}
        )
        unit.setup(0, None)
        self._ins = _UnitSignals(unit.inputs)
        self._outs = _UnitSignals(unit.outputs)
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
        self._created_unit.initialise_outputs(0)
        self._take()

    def begin(self) -> None:
        """Finish the initialisation with the inputs that it had last."""
        self.initialise()
        self._created_unit.exit_initialisation()
        self._running = True

    def step(self, begin_ns: int, end_ns: int) -> None:
        """Set the inputs, step, read the outputs."""
        self._put()
        result = self._created_unit.do_step(begin_ns, end_ns - begin_ns)
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
        self._created_unit.set(self._ins.values)
        if self._created_unit.text_inputs:
            texts = (self._texts_in[c.name] for c in self._created_unit.text_inputs)
            self._created_unit.set_texts([text for some in texts for text in some])

    def _take(self) -> None:
        self._created_unit.get(self._outs.values)
        if self._created_unit.text_outputs:
            texts = iter(self._created_unit.get_texts())
            self._texts_out = {
                c.name: [next(texts) for _ in range(c.size)]
                for c in self._created_unit.text_outputs
            }


class _UnitSignals:
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
    converted = tuple(values if kind is None else (kind(value) for value in values))
    return converted if connector.shape else converted[0]


class ServeOptions(Struct):
    """How a slave is served.

    step: Its time resolution, seconds or text; ``None``: the system's communication step.
    transport, host, port: Where it listens; port 0: any.
    modes: In which it may run.
    heartbeat_s: After which silence of the master it stops; ``None``: it does not listen for one.
    """

    step: str | float | None = None
    transport: Transport = Transport.UDP_IPV4
    host: str = "127.0.0.1"
    port: int = 0
    modes: frozenset[OpMode] = frozenset(OpMode)
    heartbeat_s: float | None = None


class ServedSlave(NamedTuple):
    """A slave that can be served: what it says of itself, and what it computes with."""

    description: SlaveDescription
    model: SlaveModel


@contextmanager
def served_slave(source: System | Path, options: ServeOptions) -> Iterator[ServedSlave]:
    """Make a slave of a system, or of the FMU of a path; what it needs is removed afterwards."""
    with TemporaryDirectory(prefix="softdock-dcp-") as folder:
        if isinstance(source, System):
            step_ns = whole_step_ns(source, options.step, "a DCP slave")
            name, file = source.name, Path(folder) / "system.fmu"
            with optional_imports():
                from orchestrator.export.system import export_system
            export_system(source, file, fmi=3, step=f"{step_ns} ns")
        else:
            name, file = source.stem, source
        component = component_of(Source(SourceKind.FMU, str(file.resolve())), name)
        if not isinstance(source, System):
            step_ns = whole_step_ns(System(name), options.step, "a DCP slave")
        description = describe_slave(name, description_of(component), step_ns, options)
        yield ServedSlave(description, ServedUnit(description, lambda: make_unit(component)))
