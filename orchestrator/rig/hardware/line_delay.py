"""The delay of a line that begins at a device: what the device brings, and what the line adds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from orchestrator.core.master.plan import stepping_order
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import Connection, Provenance, System, TransportDelay
from orchestrator.rig.hardware.twin_file import Estimate, SignalPair, TwinFile

#: Delays are declared to the microsecond.
_US = 1_000


def brought(pair: SignalPair, *, hardware: bool) -> Estimate:
    """Return the delay, s, that a device brings to lines which begin at a response.

    To a line that hardware makes that of the device alone, since no run reads the response there;
    to others that of a loop through the run
    (:attr:`~orchestrator.rig.hardware.twin_file.SignalPair.loop_delay`).
    """
    return pair.delay if hardware and pair.delay is not None else pair.loop_delay


def line_delay_ns(seconds: float) -> int:
    """Return an identified delay in nanoseconds, to the microsecond: no estimate is finer."""
    return round(seconds * 1e6) * _US


def device_lines(
    system: System, twin: TwinFile, physical: Collection[str] = ()
) -> Iterator[tuple[Connection, SignalPair, Estimate]]:
    """Yield the lines that begin at responses of a device, their pairs, and what it brings, s.

    An array passes over one line, whose delay is that of its latest element. Responses in doubt
    give none.
    """
    pairs: dict[str, list[SignalPair]] = {}
    for pair in twin.without_doubts().pair:
        pairs.setdefault(pair.response.partition("[")[0], []).append(pair)
    for line in system.connections:
        elements = pairs.get(line.source.connector)
        if line.source.component == twin.component and elements:
            hardware = str(line) in physical
            latest = max(elements, key=lambda element: brought(element, hardware=hardware).value)
            yield line, latest, brought(latest, hardware=hardware)


class LineDelay(Struct):
    """The delay of one line that begins at a response of a device, in parts.

    A line that the run reads has both parts, one after the other. The declared delay of a line that
    hardware makes is end to end: it contains that of the device.

    line: ``device.response -> component.input``.
    added_ns: What lies on the line in addition to the device, ns: the delay that the run itself
        gives the line, or, of a line that hardware makes, a declared delay of another device.
    identified_ns: Delay of the device as it was identified, ns; ``None``: it was not.
    declared_ns: Delay of the device as it is declared, ns; ``None``: it is not.
    is_physical: Whether hardware makes the line.
    objection: Why the total is not known; empty: it is.
    """

    line: str
    added_ns: int
    identified_ns: int | None
    declared_ns: int | None
    is_physical: bool
    objection: str = ""

    @property
    def device_ns(self) -> int:
        """The longer of the identified and the declared delay of the device, ns."""
        return max(self.identified_ns or 0, self.declared_ns or 0)

    @property
    def total_ns(self) -> int:
        """Delay of the line in the loop, ns."""
        return self.device_ns + self.added_ns

    @property
    def is_known(self) -> bool:
        """Whether anything says how late the device is."""
        return self.identified_ns is not None or self.declared_ns is not None

    def __str__(self) -> str:
        parts = []
        if self.identified_ns is not None:
            parts.append(f"{self.identified_ns / 1e6:g} ms identified")
            parts.append(f"{(self.declared_ns or 0) / 1e6:g} ms declared")
        elif self.declared_ns is not None:
            parts.append(f"{self.declared_ns / 1e6:g} ms declared of the device")
        else:
            device = self.line.partition(".")[0]
            parts.append(
                f"the own delay of device '{device}' is unknown: identify it, or declare it in"
                " arming.delays"
            )
        if self.added_ns:
            origin = "another device's" if self.is_physical else "the run's connection adds"
            parts.append(f"{origin} {self.added_ns / 1e6:g} ms")
        return f"{self.line}: {', '.join(parts)}; margins are those with {self.total_ns / 1e6:g} ms"

    def as_json(self) -> dict[str, Any]:
        """Return plain data, in seconds."""
        return {
            "line": self.line,
            "device_s": self.device_ns * 1e-9 if self.is_known else None,
            "added_s": self.added_ns * 1e-9,
            "total_s": self.total_ns * 1e-9,
        }


def line_delays(
    model: System,
    run: System,
    devices: Collection[str],
    twins: Iterable[TwinFile] = (),
    declared: Mapping[str, int] | None = None,
    period_ns: Callable[[str], int] = lambda _: 0,
) -> Iterator[LineDelay]:
    """Yield the delays of all lines that begin at devices.

    This is the one account of them: arming gives them to its models, a run and ``softdock check``
    to their loops.

    model: Has all lines, with delays of lines that hardware makes, and models of the devices. A
        model that is a twin is late by itself.
    run: Has the devices; a line that it does not have is made by hardware.
    devices: Names of components of both.
    twins: What was identified of devices.
    declared: Delays of devices, ns, by lines that the run reads or by which it commands them.
    period_ns: Of the steps of a component; 0: not known.
    """
    twins_by_name, declared_delays = {twin.component: twin for twin in twins}, declared or {}
    read = {str(line): line for line in run.connections}
    physical = {str(line) for line in model.connections} - read.keys()
    for name in devices:
        twin, step_ns = twins_by_name.get(name), period_ns(name)
        entries: dict[str, tuple[SignalPair, Estimate]] = {}
        if twin is not None:
            lines = device_lines(model, twin, physical)
            entries = {str(line): (pair, estimate) for line, pair, estimate in lines}
        into = [
            declared_delays.get(str(line))
            for line in run.connections
            if line.target.component == name and line.source.component not in devices
        ]
        command_ns = max((delay_ns for delay_ns in into if delay_ns is not None), default=None)
        for line in model.connections:
            if line.source.component != name:
                continue
            modelled_ns = model.components[name].late_ns.get(line.source.connector)
            entry = entries.get(str(line))
            identified_ns = None if entry is None else _whole_steps_ns(*entry, step_ns)
            if str(line) in physical:
                before_ns = _sum(modelled_ns, command_ns)
                yield _made_by_hardware(line, before_ns, twin, entry and entry[1], identified_ns)
                continue
            declared_delay = read[str(line)].delay
            added_ns = 0 if declared_delay is None else declared_delay.nominal_ns
            if added_ns and identified_ns and step_ns:  # each is read on the grid of steps
                identified_ns = -(-identified_ns // step_ns) * step_ns
            own_ns = _sum(declared_delays.get(str(line)), command_ns)
            declared_ns = max((x for x in (own_ns, modelled_ns) if x is not None), default=None)
            yield LineDelay(str(line), added_ns, identified_ns, declared_ns, is_physical=False)


def with_device_delays(run: System, lines: Iterable[LineDelay]) -> System:
    """Let the devices of a run be as late as its lines say, so that its loops count that."""
    late_ns: dict[str, dict[str, int]] = {}
    for line in lines:
        if not line.is_physical and line.is_known:
            name, _, response = line.line.partition(" -> ")[0].partition(".")
            late_ns.setdefault(name, {})[response] = line.device_ns
    changed = {
        name: replace(run.components[name], late_ns=responses)
        for name, responses in late_ns.items()
    }
    return replace(run, components={**run.components, **changed})


def _sum(*parts: int | None) -> int | None:
    """Add up what is known; ``None``: nothing is."""
    known_parts = [part for part in parts if part is not None]
    return sum(known_parts) if known_parts else None


def _whole_steps_ns(pair: SignalPair, estimate: Estimate, step_ns: int) -> int:
    """Return an identified delay without what is beyond a whole step by scatter alone."""
    delay_ns = line_delay_ns(estimate.value)
    beyond_ns = delay_ns % step_ns if step_ns else 0
    return delay_ns - beyond_ns if beyond_ns * 1e-9 < pair.jitter.value else delay_ns


def _made_by_hardware(
    line: Connection,
    before_ns: int | None,
    twin: TwinFile | None,
    estimate: Estimate | None,
    identified_ns: int | None,
) -> LineDelay:
    """Return the delay of a line that hardware makes; ``before_ns`` is declared in front of it."""
    delay = line.delay
    own_ns = 0 if delay is None else delay.nominal_ns
    name = str(line)
    if delay is not None and twin is not None and own_ns and is_of_other(delay, twin.device):
        return LineDelay(name, own_ns, identified_ns, before_ns, is_physical=True)
    whole_ns = _sum(None if delay is None else own_ns, before_ns)
    objection = ""
    if estimate is not None and 0 < (whole_ns or 0) < line_delay_ns(estimate.low):
        objection = (
            f"{line} is made by hardware and declares {(whole_ns or 0) / 1e6:g} ms from end to"
            f" end, but its device alone was identified with {in_ms(estimate)}, so the delay behind"
            " the device is unknown: declare the whole delay of the connection in arming.delays"
        )
    return LineDelay(name, 0, identified_ns, whole_ns, is_physical=True, objection=objection)


def identified_delay(twin: TwinFile, pair: SignalPair, estimate: Estimate) -> TransportDelay:
    """Return an estimate as the delay of a line, with where it comes from."""
    return TransportDelay(
        line_delay_ns(estimate.value),
        Provenance(pair.provenance),
        device=twin.device,
        date=twin.date.isoformat(),
    )


def declared_otherwise(
    system: System, twin: TwinFile, physical: Collection[str] = ()
) -> Iterator[tuple[Connection, str]]:
    """Yield the lines that declare a delay outside of the interval that was identified.

    A line that hardware makes may be later than its device: what lies behind is on it as well. What
    a line declares of another device is not compared. Parameters as of :func:`device_lines`.
    """
    for line, _, estimate in device_lines(system, twin, physical):
        delay, hardware = line.delay, str(line) in physical
        if delay is None or not delay.nominal_ns or is_of_other(delay, twin.device):
            continue
        is_early = delay.nominal_ns < line_delay_ns(estimate.low)
        is_late = delay.nominal_ns > line_delay_ns(estimate.high) and not hardware
        if is_early or is_late:
            alone = " before what lies behind it" if hardware else ""
            advice = (
                "declare the whole delay of the connection, from the command of the device to its"
                " end"
                if hardware
                else "declare the identified delay (softdock identify --set-delays) plus the"
                " other delays of the connection"
            )
            text = (
                f"declares {delay.nominal_ns / 1e6:g} ms ({delay.provenance}), but"
                f" '{twin.component}' ({twin.device}) was identified with {in_ms(estimate)}{alone};"
                f" {advice}; or identify it again"
            )
            yield line, text


def is_of_other(delay: TransportDelay, device: str) -> bool:
    """Whether a delay says that it is that of another device."""
    return delay.device not in {"", device}


def in_ms(estimate: Estimate) -> str:
    """Write an estimate of a delay: ``"16 ms (12 to 16)"``."""
    value, low, high = (line_delay_ns(bound) / 1e6 for _, bound in estimate)
    return f"{value:g} ms ({low:g} to {high:g})"


#: Source, target, and by how much the target may come later than the source at most, ns.
_Bound = tuple[str, str, int]


# Loops of a run and of its models: a line without a delay hands over what its source made in the
# same step, if that is stepped before the target; else what it made in the step before. A line with
# a delay is read at the begin of a step, whatever the order. So models, whose devices have their
# delays on lines, can have other loops than the run, by whole steps (Gauss-Seidel, plain delays).


def corrections(
    model: System,
    added_ns: Mapping[str, int],
    run: System,
    lines: Iterable[LineDelay],
    movable: Collection[str],
    step_ns: int,
) -> dict[str, int] | None:
    """Return by how much lines of the model have to be later for its loops to be those of the run.

    model: Has models in the place of devices, with the delays of these.
    added_ns: What lines of the model are later on purpose, ns.
    run: Has the devices.
    lines: Of devices.
    movable: Lines whose delays can be changed; what has any keeps a step at least.
    step_ns: Of both.

    Returns ns by lines, empty if all loops are as late as those of the run; ``None``: there are no
    such delays.
    """
    of_run, of_model = _ages(run, step_ns), _ages(model, step_ns)
    devices = {line.line: line for line in lines}
    same: list[_Bound] = []
    fixed: list[_Bound] = []
    free: list[_Bound] = []
    later_ns: dict[str, tuple[str, str, int]] = {}
    for line in model.connections:
        name, source, target = str(line), line.source.component, line.target.component
        age_ns, device = of_model[name], devices.get(name)
        wanted_ns = of_run.get(name, age_ns)
        if device is not None and (device.is_physical or device.added_ns):
            wanted_ns = _in_steps(device.total_ns, step_ns)
        elif device is not None:
            wanted_ns += _in_steps(device.device_ns, step_ns)
        wanted_ns += added_ns.get(name, 0)
        by_ns = wanted_ns - age_ns
        both = [(source, target, by_ns), (target, source, -by_ns)]
        same += both
        if name not in movable or age_ns <= 0:
            fixed += both
        else:
            free.append((source, target, wanted_ns - step_ns))
            later_ns[name] = source, target, by_ns
    if _shifts(same) is not None:
        return {}
    shifts = _shifts([*fixed, *free])
    if shifts is None:
        return None
    changes = {
        name: by_ns - (shifts[target] - shifts[source])
        for name, (source, target, by_ns) in later_ns.items()
    }
    return {name: by_ns for name, by_ns in changes.items() if by_ns}


def _ages(system: System, step_ns: int) -> dict[str, int]:
    """Return how old what a line hands over is at the begin of a step, ns, by lines."""
    order = [name for ring in stepping_order(system) for name in ring]
    positions = {name: position for position, name in enumerate(order)}

    def age_ns(line: Connection) -> int:
        if line.delay is not None and (line.delay.nominal_ns or line.delay.variation):
            return _in_steps(line.delay.nominal_ns, step_ns)
        is_before = positions[line.source.component] < positions[line.target.component]
        return -step_ns if is_before else 0

    return {str(line): age_ns(line) for line in system.connections}


def _in_steps(delay_ns: int, step_ns: int) -> int:
    return -(-delay_ns // step_ns) * step_ns


def _shifts(bounds: Iterable[_Bound]) -> dict[str, int] | None:
    """Return by how much each component comes later, within bounds; ``None``: there is no such way.

    Shortest paths after Bellman and Ford.
    """
    bounds = list(bounds)
    shifts = dict.fromkeys([name for *ends, _ in bounds for name in ends], 0)
    for _ in range(len(shifts) + 1):
        before = dict(shifts)
        for source, target, most_ns in bounds:
            shifts[target] = min(shifts[target], shifts[source] + most_ns)
        if shifts == before:
            return shifts
    return None
