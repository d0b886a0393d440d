"""What is asked of a slave, and whether it has that; its variables as connectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from orchestrator.core.diagnostics import DescriptionError, UnknownNameError, nearest
from orchestrator.core.system import Causality, Connector, DataType, Value
from orchestrator.core.system.ports import Limits
from orchestrator.dcp import pdus
from orchestrator.dcp.data_types import DcpType, Scalar, Values, pack_value
from orchestrator.dcp.description import SlaveDescription, SlaveVariable, VariableKind
from orchestrator.dcp.identifiers import OpMode, Transport
from orchestrator.dcp.master.rollout import chosen_resolution

_EMPTY: Mapping[DcpType, Scalar] = {DcpType.STRING: "", DcpType.BINARY: b""}


@dataclass(frozen=True, slots=True)
class SlavePlan:
    """What is asked of a slave, before anything is opened.

    about: The slave.
    mode: In which it runs.
    transport, host, port: How it is reached.
    inputs, outputs: That are exchanged, in this order.
    resolution: In s, numerator and denominator.
    steps: Between two data PDUs in real time; ``None``: what the outputs say.
    parameters: That are set, by name.
    number: Slave id.
    patience_s: How long an answer may take.
    """

    about: SlaveDescription
    mode: OpMode
    transport: Transport
    host: str
    port: int
    inputs: tuple[SlaveVariable, ...]
    outputs: tuple[SlaveVariable, ...]
    resolution: tuple[int, int]
    steps: int | None = None
    parameters: Mapping[str, Values] = field(default_factory=dict)
    number: int = 1
    patience_s: float = 1.0

    @property
    def period(self) -> float:
        """Time between two data PDUs of the outputs that come most often, in s."""
        numerator, denominator = self.resolution
        paces = [
            v.steps.default if self.steps is None or v.steps.fixed else self.steps
            for v in self.outputs
        ]
        return min(paces, default=self.steps or 1) * numerator / denominator

    def of_parameters(self) -> list[pdus.SetParameter]:
        """Return the requests that set the parameters."""
        known = {variable.name: variable for variable in self.about.variables}
        found = []
        for name, values in self.parameters.items():
            variable = known[name]
            content = b"".join(pack_value(variable.type, value) for value in values)
            found.append(pdus.SetParameter(0, 0, variable.reference, variable.type, content))
        return found


def make_plan(
    about: SlaveDescription,
    *,
    mode: OpMode,
    transport: Transport | None = None,
    host: str | None = None,
    port: int | None = None,
    inputs: tuple[str, ...] = (),
    outputs: tuple[str, ...] = (),
    resolution: float | None = None,
    steps: int | None = None,
    parameters: Mapping[str, Scalar | list[Scalar]] | None = None,
    number: int = 1,
    patience_s: float = 1.0,
) -> SlavePlan:
    """Make a plan of a slave; what is ``None`` is as its description says, no names are all."""
    problems: list[DescriptionError] = []
    if mode not in about.op_modes:
        have = ", ".join(each.name for each in sorted(about.op_modes))
        problems.append(_about(about, f"it does not run in {mode.name}; it has {have}"))
    place = _transport(about, transport, problems)
    known = about.transports.get(place)
    found_host, found_port = host or (known and known.host), port or (known and known.port)
    if not found_host or not found_port:
        problems.append(_about(about, "its description has no host or port: give both"))
    chosen = (
        _chosen(about, VariableKind.INPUT, inputs, problems),
        _chosen(about, VariableKind.OUTPUT, outputs, problems),
    )
    problems += _unused_steps(about, mode, steps, chosen[1])
    values = {n: _value(about, n, v, problems) for n, v in (parameters or {}).items()}
    try:
        taken = chosen_resolution(about, resolution)
    except DescriptionError as error:
        problems.append(error)
    if problems:
        raise DescriptionError.collect(problems)
    return SlavePlan(
        about,
        mode,
        place,
        found_host or "",
        found_port or 0,
        *chosen,
        taken,
        steps,
        values,
        number,
        patience_s,
    )


def _about(about: SlaveDescription, text: str) -> DescriptionError:
    return DescriptionError(f"DCP slave '{about.name}': {text}")


def _unused_steps(
    about: SlaveDescription, mode: OpMode, steps: int | None, outputs: tuple[SlaveVariable, ...]
) -> list[DescriptionError]:
    """Return why steps that are asked for would not be those of the outputs."""
    if steps is None:
        return []
    if mode is OpMode.NRT:
        text = f"steps {steps}: expected none in NRT, where the run says how far it steps"
        return [_about(about, text)]
    return [
        _about(about, f"steps {steps}: output '{each.name}' takes {each.steps} only")
        for each in outputs
        if not each.steps.takes(steps)
    ]


def _transport(
    about: SlaveDescription, wanted: Transport | None, problems: list[DescriptionError]
) -> Transport:
    if wanted is None:
        return next(iter(about.transports), Transport.UDP_IPV4)
    if about.transports and wanted not in about.transports:
        have = ", ".join(each.name for each in about.transports)
        problems.append(_about(about, f"it does not speak {wanted.name}; it has {have}"))
    return wanted


def _chosen(
    about: SlaveDescription,
    kind: VariableKind,
    names: tuple[str, ...],
    problems: list[DescriptionError],
) -> tuple[SlaveVariable, ...]:
    known = {variable.name: variable for variable in about.of(kind)}
    for name in names:
        if name not in known:
            text = f"it has no {kind.value} '{name}'{nearest(name, known)}"
            problems.append(UnknownNameError(f"DCP slave '{about.name}': {text}"))
    return tuple(known[name] for name in names or known if name in known)


def _value(
    about: SlaveDescription,
    name: str,
    value: Scalar | list[Scalar],
    problems: list[DescriptionError],
) -> Values:
    known = {v.name: v for v in about.variables if v.is_settable}
    if name not in known:
        text = f"DCP slave '{about.name}': it has no parameter '{name}'{nearest(name, known)}"
        problems.append(UnknownNameError(text))
        return ()
    variable = known[name]
    values = tuple(value) if isinstance(value, list) else (value,)
    wrong = next((r for v in values if (r := variable.type.refusal(v)) is not None), None)
    if wrong is None and len(values) != about.size(variable):
        wrong = f"expected {about.size(variable)} values"
    if wrong is None and variable.beyond_limits(values) is not None:
        wrong = f"expected {variable.minimum} to {variable.maximum}"
    if wrong is not None:
        problems.append(_about(about, f"parameter '{name}': {wrong}, found {value!r}"))
    return values


def started(about: SlaveDescription, variable: SlaveVariable) -> Values:
    """Return the start value of a variable, whole; what says none begins with 0, or empty."""
    size = about.size(variable)
    if not variable.start:
        return (_EMPTY.get(variable.type, 0),) * size
    return variable.start * size if len(variable.start) == 1 else variable.start


_TYPES = {DcpType.STRING: DataType.STRING, DcpType.BINARY: DataType.BINARY}


def connectors_of(plan: SlavePlan) -> tuple[Connector, ...]:
    """Return the connectors of a slave that is stepped: all data types, arrays as arrays."""
    return tuple(_connector(plan.about, each) for each in (*plan.inputs, *plan.outputs))


def _connector(about: SlaveDescription, variable: SlaveVariable) -> Connector:
    is_input = variable.kind is VariableKind.INPUT
    whole = DataType.INTEGER if variable.type.is_integer else DataType.REAL
    return Connector(
        variable.name,
        Causality.INPUT if is_input else Causality.OUTPUT,
        _TYPES.get(variable.type, whole),
        unit=variable.unit,
        shape=about.shape(variable),
        description=variable.description,
        start=_start(about, variable),
        unit_definition=about.units.get(variable.unit) if variable.unit else None,
        limits=_limits(variable) if is_input else None,
    )


def _start(about: SlaveDescription, variable: SlaveVariable) -> Value:
    values = started(about, variable)
    if not (variable.type.is_text or variable.type.is_integer):
        values = tuple(float(value) for value in values)
    return values if about.shape(variable) else values[0]  # type: ignore[return-value]


def _limits(variable: SlaveVariable) -> Limits | None:
    low, high = variable.minimum, variable.maximum
    return None if low is not None and low == high else Limits.of(low, high)


def feedthrough_of(plan: SlavePlan) -> dict[str, tuple[str, ...]]:
    """Return for each output the inputs that act on it at once; all, if the slave does not say."""
    return {output.name: _acting(output, plan.inputs) for output in plan.outputs}


def _acting(output: SlaveVariable, inputs: Sequence[SlaveVariable]) -> tuple[str, ...]:
    says = output.dependencies
    if says is None or says.run is None:
        return tuple(variable.name for variable in inputs)
    return tuple(variable.name for variable in inputs if variable.reference in says.run)
