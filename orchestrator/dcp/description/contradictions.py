"""What a description contradicts itself in, or refers to in vain (the asserts of its XSD)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from orchestrator.dcp.data_types import DcpType
from orchestrator.dcp.description.description import (
    Dependencies,
    PduSteps,
    Resolution,
    ResolutionRange,
    SlaveDescription,
    SlaveVariable,
    VariableKind,
)

#: Elements of one array, so that a few bytes of a file cannot ask for all memory.
MOST_ELEMENTS = 100_000


def contradictions(about: SlaveDescription) -> Iterator[str]:
    """Yield everything in a description that cannot hold together, a sentence each."""
    yield from _of_the_slave(about)
    yield from _of_time(about)
    yield from _of_ports(about)
    yield from _of_log(about)
    yield from _twice("variables are called", (v.name for v in about.variables))
    yield from _twice("variables have the value reference", (v.reference for v in about.variables))
    known = about.by_reference
    for variable in about.variables:
        for text in _of_variable(variable, known, about):
            yield f"variable '{variable.name}': {text}"


def _of_the_slave(about: SlaveDescription) -> Iterator[str]:
    if (about.major, about.minor) != (1, 0):
        yield f"expected DCP 1.0, found version {about.major}.{about.minor}"
    if not about.op_modes:
        yield "expected an operating mode at least, found none"
    has_beat = about.heartbeat is not None
    if about.capabilities.monitor_heartbeat is not has_beat:
        told = "has" if has_beat else "lacks"
        flag = str(about.capabilities.monitor_heartbeat).lower()
        yield f"it {told} <Heartbeat>, and says canMonitorHeartbeat='{flag}'"
    logs = about.capabilities.log_on_request or about.capabilities.log_on_notification
    if logs and not about.templates:
        yield "it says that it provides logs, and has no <Log>"
    yield from _of_steps("NonRealTime", about.nrt_steps)


def _of_steps(who: str, steps: PduSteps) -> Iterator[str]:
    if steps.fixed and (steps.least is not None or steps.most is not None):
        yield f"{who}: its steps are fixed (fixedSteps), and it has minSteps or maxSteps"
    if steps.least is not None and steps.most is not None and steps.most < steps.least:
        yield f"{who}: minSteps is {steps.least}, beyond maxSteps {steps.most}"
    elif not steps.fixed and not steps.takes(steps.default):
        yield f"{who}: defaultSteps {steps.default} is not between minSteps and maxSteps"


def _of_time(about: SlaveDescription) -> Iterator[str]:
    for known in about.resolutions:
        if isinstance(known, ResolutionRange) and known.least > known.most:
            yield f"ResolutionRange: numeratorFrom {known.least} is beyond numeratorTo {known.most}"
    fixed = sum(isinstance(each, Resolution) and each.fixed for each in about.resolutions)
    if fixed and len(about.resolutions) > 1:
        yield "TimeRes: a resolution is fixed, and there are others"


def _of_ports(about: SlaveDescription) -> Iterator[str]:
    for transport, place in about.transports.items():
        for ports in (*place.data_ports, *place.parameter_ports):
            if ports.first > ports.last:
                yield f"{transport.name}: a range of ports from {ports.first} to {ports.last}"


def _of_log(about: SlaveDescription) -> Iterator[str]:
    yield from _twice("log templates have the id", (t.number for t in about.templates))
    for template in about.templates:
        if template.category not in about.categories:
            yield f"log template {template.number}: there is no category {template.category}"


def _of_variable(
    variable: SlaveVariable, known: dict[int, SlaveVariable], about: SlaveDescription
) -> Iterator[str]:
    yield from _of_kind(variable)
    yield from _of_steps("Output", variable.steps)
    if variable.unit is not None and variable.unit not in about.units:
        yield f"its unit '{variable.unit}' is not among <UnitDefinitions>"
    low, high = variable.minimum, variable.maximum
    if low is not None and high is not None and low > high:
        yield f"its min {low:g} is beyond its max {high:g}"
    elif (beyond := variable.beyond_limits(variable.start)) is not None:
        yield f"its start {beyond!r} is not between its min and max"
    yield from _of_extents(variable, known, about)
    if variable.dependencies is not None:
        yield from _of_dependencies(variable, variable.dependencies, known)


def _of_kind(variable: SlaveVariable) -> Iterator[str]:
    is_parameter = variable.is_settable
    allowed = ("fixed", "tunable") if is_parameter else ("continuous", "discrete")
    if variable.variability not in allowed:
        yield (
            f"the variability of an {variable.kind} is {' or '.join(allowed)}, found"
            f" '{variable.variability}'"
        )
    if variable.max_missed is not None and variable.kind is VariableKind.OUTPUT:
        yield "maxConsecMissedPdus stands at an output, which misses none"
    if not variable.start and variable.kind is not VariableKind.OUTPUT:
        yield f"an {variable.kind} needs a start value"
    if variable.kind is VariableKind.STRUCTURAL and variable.start and variable.start[0] == 0:
        yield "a structural parameter begins with 1 at least, found 0"


def _of_extents(
    variable: SlaveVariable, known: dict[int, SlaveVariable], about: SlaveDescription
) -> Iterator[str]:
    if variable.dimensions and variable.type.is_text:
        yield f"a {variable.type.element} has no dimensions"
        return
    for extent, linked in zip(variable.dimensions, variable.linked, strict=True):
        if not linked:
            continue
        found = known.get(extent)
        if found is None or found.kind is not VariableKind.STRUCTURAL or not found.start:
            yield f"linkedVR {extent} is no structural parameter"
            return
    size = about.size(variable)
    if size > MOST_ELEMENTS:
        yield f"it has {size} elements; expected {MOST_ELEMENTS} at most"
    elif len(variable.start) not in {0, 1, size}:
        yield f"its start has {len(variable.start)} values; expected {size}"
    content = variable.start[0] if variable.start else ""
    if variable.max_size is not None and variable.type.is_text:
        length = len(content.encode() if isinstance(content, str) else bytes(content))  # type: ignore[arg-type]
        if length > variable.max_size:
            yield f"its start has {length} bytes, beyond its maxSize {variable.max_size}"


def _of_dependencies(
    variable: SlaveVariable, says: Dependencies, known: dict[int, SlaveVariable]
) -> Iterator[str]:
    if variable.initialization_only and says.run is not None:
        yield "it never changes after the initialisation, and has dependencies there"
    for reference in (*(says.initialization or ()), *(says.run or ())):
        found = known.get(reference)
        if found is None or found.kind is VariableKind.OUTPUT:
            yield f"it depends on the value reference {reference}, no input or parameter"


def _twice(what: str, values: Iterable[object]) -> Iterator[str]:
    for value, count in Counter(values).items():
        if count > 1:
            yield f"{count} {what} '{value}'"


def placeholders(message: str) -> tuple[tuple[DcpType, ...], list[str]]:
    """Return the types of the places of a log message, and what is no type behind a ``%``."""
    kinds, wrong, rest = [], [], message.replace("%%", "")
    for part in rest.split("%")[1:]:
        word = "".join(_leading(part))
        try:
            kinds.append(DcpType[word.upper()])
        except KeyError:
            wrong.append(word)
    return tuple(kinds), wrong


def _leading(text: str) -> Iterator[str]:
    """Yield the longest beginning that is the name of a type, else all letters and digits."""
    for kind in sorted(DcpType, key=lambda each: -len(each.name)):
        if text.startswith(kind.name.lower()):
            yield kind.name.lower()
            return
    for letter in text:
        if not letter.isalnum():
            return
        yield letter
