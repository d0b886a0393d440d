"""Running one slave: from its description to data in both directions."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from orchestrator.dcp import pdus
from orchestrator.dcp.codec import encode
from orchestrator.dcp.data_types import DcpType, Scalar, pack_value
from orchestrator.dcp.description import SlaveDescription, Variable, VariableKind
from orchestrator.dcp.error_codes import ErrorCode
from orchestrator.dcp.identifiers import OpMode, Transport
from orchestrator.dcp.master.link import open_link
from orchestrator.dcp.master.rollout import Group, Rollout, chosen_resolution, roll_out
from orchestrator.dcp.master.session import RefusedError, Session
from orchestrator.dcp.payload import Values
from orchestrator.dcp.states import State
from orchestrator.diagnostics import DescriptionError, DeviceError, UnknownNameError, nearest

_SEQUENCES = 2**16
_EMPTY: Mapping[DcpType, Scalar] = {DcpType.STRING: "", DcpType.BINARY: b""}


@dataclass(frozen=True, slots=True)
class Plan:
    """What is asked of a slave, before anything is opened.

    Parameters
    ----------
    about
        The slave.
    mode
        In which it runs.
    transport, host, port
        How it is reached.
    inputs, outputs
        That are exchanged, in this order.
    resolution
        In s, numerator and denominator.
    steps
        Between two data PDUs in real time; ``None``: what the outputs say.
    parameters
        That are set, by name.
    number
        Slave id.
    patience_s
        How long an answer may take.
    """

    about: SlaveDescription
    mode: OpMode
    transport: Transport
    host: str
    port: int
    inputs: tuple[Variable, ...]
    outputs: tuple[Variable, ...]
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
) -> Plan:
    """Make a plan of a slave; what is ``None`` is as its description says, no names are all.

    Raises
    ------
    DescriptionError
        If the slave does not have what is asked for: all of it together.
    """
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
    values = {n: _value(about, n, v, problems) for n, v in (parameters or {}).items()}
    try:
        taken = chosen_resolution(about, resolution)
    except DescriptionError as error:
        problems.append(error)
    if problems:
        raise DescriptionError.collect(problems)
    return Plan(
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
) -> tuple[Variable, ...]:
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


class Controller:
    """Leads one slave through its states and exchanges data with it.

    Parameters
    ----------
    plan
        What is asked of it.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        link = open_link(plan.transport, (plan.host, plan.port), plan.patience_s)
        self.session = Session(plan.about, link, plan.number, plan.patience_s)
        self.rollout = self._rolled_out()
        self._sent = {group.data_id: 0 for group in self.rollout.inputs}
        self._layouts = {group.data_id: group for group in self.rollout.outputs}
        self.values: dict[int, Values] = {}
        for variable in (*plan.inputs, *plan.outputs):
            self.values[variable.reference] = started(plan.about, variable)

    def _rolled_out(self) -> Rollout:
        plan = self.plan
        return roll_out(
            plan.about,
            (*plan.inputs, *plan.outputs),
            plan.mode,
            plan.transport,
            plan.port,
            self.session.link.address,
            plan.resolution,
            plan.steps,
            plan.of_parameters(),
        )

    def connect(self) -> None:
        """Register the slave and configure it.

        Raises
        ------
        DeviceError
            If it does not answer, or refuses.
        """
        self.session.register(self.plan.mode)
        self.session.configure(self.rollout.requests)
        self._prepare()
        self.session.move(pdus.Configure, until=State.CONFIGURED)

    def _prepare(self) -> None:
        try:
            self.session.move(pdus.Prepare, until=State.PREPARED)
        except RefusedError as error:
            # DCPLib wants CFG_steps in NRT as well, where Table 63 does not have it.
            if error.error != ErrorCode.INCOMPLETE_CONFIG_STEPS or self.plan.mode is not OpMode.NRT:
                raise
            steps = ((pdus.Steps, (g.steps, g.data_id)) for g in self.rollout.outputs)
            self.session.configure(tuple(steps))
            self.session.move(pdus.Prepare, until=State.PREPARED)

    def initialise(self, *, wait: bool = True) -> None:
        """Let the slave find outputs that are consistent with its inputs; may be repeated."""
        self.send_inputs()
        self.session.move(pdus.Initialize, until=State.INITIALIZED)
        self.session.data.clear()
        self.session.move(pdus.SendOutputs, until=State.CONFIGURED)
        if wait:
            self._await_outputs()

    def run(self, start: int = 0) -> None:
        """Start the slave, at a UNIX time in s; 0: now."""
        self.session.move(pdus.Run, start, until=State.SYNCHRONIZED)
        self.session.move(pdus.Run, 0, until=State.RUNNING)

    def step(self, steps: int) -> None:
        """Send the inputs, let the slave compute so many steps (NRT), and take its outputs."""
        self.send_inputs()
        self.session.move(pdus.DoStep, steps, until=State.COMPUTED)
        self.session.data.clear()
        self.session.move(pdus.SendOutputs, until=State.RUNNING)
        self._await_outputs()

    def send_inputs(self) -> None:
        """Send the values of all inputs."""
        for group in self.rollout.inputs:
            number = self._sent[group.data_id]
            content = group.payload.pack(self.values)
            pdu = pdus.Data(number, group.data_id, content)
            self._sent[group.data_id] = (number + 1) % _SEQUENCES
            self.session.link.send_data(self.rollout.port, encode(pdu))

    def take(self, pdu: pdus.Data) -> Group | None:
        """Take values of outputs; ``None`` if they are of no group here.

        Raises
        ------
        WireFormatError
            If the payload is not of its layout.
        """
        group = self._layouts.get(pdu.data_id)
        if group is not None:
            self.values.update(group.payload.unpack(pdu.payload))
        return group

    def _await_outputs(self) -> None:
        missing = set(self._layouts)
        deadline = time.monotonic() + self.plan.patience_s
        while missing:
            while self.session.data:
                pdu = self.session.data.popleft()
                self.take(pdu)
                missing.discard(pdu.data_id)
            left = deadline - time.monotonic()
            if missing and not self.session.listen(left):
                ids = ", ".join(map(str, sorted(missing)))
                raise DeviceError(
                    f"{self.session.who}: no outputs came within {self.plan.patience_s:g} s"
                    f" (data id {ids}); a firewall between them?"
                )

    def close(self) -> None:
        """Halt and release the slave; more than once is no harm."""
        self.session.release()


def started(about: SlaveDescription, variable: Variable) -> Values:
    """Return the start value of a variable, whole; what says none begins with 0, or empty."""
    size = about.size(variable)
    if not variable.start:
        return (_EMPTY.get(variable.type, 0),) * size
    return variable.start * size if len(variable.start) == 1 else variable.start
