"""What a twin says of itself as a unit, and what its outputs pass through."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from orchestrator.core.diagnostics import DescriptionError, UnitMismatchError, UnknownNameError
from orchestrator.core.simunits import UnitDescription
from orchestrator.core.system import (
    Causality,
    Component,
    Connector,
    DataType,
    Source,
    SourceKind,
    conversion_between,
)
from orchestrator.core.system.naming import listed_names
from orchestrator.rig.identification.clock import in_run_time
from orchestrator.rig.identification.line_delays import brought, line_delay_ns
from orchestrator.rig.identification.twin_file import SignalPair, TwinFile, read_twin

_ELEMENT = re.compile(r"(?P<name>.+)\[(?P<index>\d+)\]")


@dataclass(frozen=True, slots=True)
class Channel:
    """What one scalar of an output passes through, in the unit of its connector.

    Parameters
    ----------
    delay_ns
        Nanoseconds: of the device, and of the way there and back unless hardware carries it on.
    order
        Of the lag.
    frequency
        rad/s; 0 without a lag.
    damping
        Ratio; 0 but with the second order.
    gain
        Of the device, where it follows a command of the same unit; else 1, and no lag, as the model
        has its own.
    noise
        Standard deviation.
    step
        Of the values; 0: any.
    key
        Of the noise.
    """

    delay_ns: int
    order: int
    frequency: float
    damping: float
    gain: float
    noise: float
    step: float
    key: int


def complete_twin(source: Source, name: str, like: Component | None) -> Source:
    """Return the source with what it is around: what it says, or what stood there."""
    if source.inner is not None:
        return source
    inner = None if like is None else like.source
    if inner is not None and inner.kind is SourceKind.TWIN:
        inner = inner.inner
    if inner is None or inner.kind not in {SourceKind.FMU, SourceKind.BLOCK}:
        raise DescriptionError(
            f"component '{name}' ({source}): a twin is around an FMU or a block, and none stands"
            f" there; say which: {source}?inner=FILE.fmu, or inner=block:NAME"
        )
    return source.around(inner)


def inner_of(component: Component) -> Component:
    """Return the component that a twin is around."""
    source = complete_twin(component.source, component.name, None)
    assert source.inner is not None  # noqa: S101 - it is complete
    return replace(component, source=source.inner, has_event_mode=False)


def describe_twin(source: Source, inner: UnitDescription) -> UnitDescription:
    """Describe a twin by what it is around: outputs that are late depend on nothing at once."""
    late = late_outputs(source, inner)
    twin = twin_of(source)
    return replace(
        inner,
        feedthrough={
            name: () if name in late else depends for name, depends in inner.feedthrough.items()
        }
        | dict.fromkeys(late, ()),
        capabilities=replace(
            inner.capabilities,
            can_serialize=False,
            has_directional_derivatives=False,
            has_event_mode=False,
        ),
        has_states=True,
        details={
            **inner.details,
            "twin": str(source.file),
            "device": f"{twin.component} ({twin.device}), {twin.date.isoformat()}",
        },
    )


def late_outputs(source: Source, inner: UnitDescription) -> dict[str, int]:
    """Return by how many nanoseconds outputs of a twin are late, all their elements at least."""
    found: dict[str, int] = {}
    for name, channel in channels_of(source, inner).items():
        output = _place(name)[0]
        found[output] = min(channel.delay_ns, found.get(output, channel.delay_ns))
    return {output: late_ns for output, late_ns in found.items() if late_ns > 0}


def channels_of(source: Source, inner: UnitDescription) -> dict[str, Channel]:
    """Return what each scalar of an output passes through, by its name.

    Responses of the device that what it is around has not are left out.
    """
    twin = twin_of(source)
    outputs = {c.name: c for c in inner.of(Causality.OUTPUT) if c.type is DataType.REAL}
    found = dict(_channels(source, twin, outputs))
    _expect_commands(source, twin, found, inner)
    if not found:
        raise UnknownNameError(
            f"{source}: a twin of '{twin.component}' ({twin.device}): expected a response of the"
            f" device among the outputs of what it is around ({listed_names(list(outputs))}),"
            f" found: {', '.join(pair.response for pair in twin.pair)}"
        )
    return found


def _expect_commands(
    source: Source, twin: TwinFile, responses: Collection[str], inner: UnitDescription
) -> None:
    """Expect that what it is around takes the commands of the device."""
    inputs = [connector.name for connector in inner.of(Causality.INPUT)]
    for pair in twin.pair:
        if pair.command is None or pair.response not in responses:
            continue
        if _place(pair.command)[0] not in inputs:
            raise UnknownNameError(
                f"{source}: a twin of '{twin.component}' ({twin.device}), whose '{pair.response}'"
                f" follows '{pair.command}': expected it among the inputs of what it is around"
                f" ({listed_names(inputs) or 'none'})"
            )


def _channels(
    source: Source, twin: TwinFile, outputs: dict[str, Connector]
) -> Iterator[tuple[str, Channel]]:
    for pair in twin.pair:
        name, index = _place(pair.response)
        connector = outputs.get(name)
        if connector is None or not 0 <= index < connector.size:
            continue
        given = replace(connector, unit=pair.response_unit, unit_definition=None)
        try:
            factor, _ = conversion_between(given, connector)
        except UnitMismatchError as error:
            raise UnitMismatchError(f"{source}: {error}") from None
        yield pair.response, _channel(source, twin, pair, factor)


def _channel(source: Source, twin: TwinFile, pair: SignalPair, factor: float) -> Channel:
    follows = pair.gain is not None and pair.command_unit == pair.response_unit
    dynamics = pair.dynamics if follows else None  # else the model has its own, as it has its gain
    lag = None if dynamics is None else dynamics.frequency
    damping = None if dynamics is None else dynamics.damping
    text = f"{source.seed}\0{twin.component}\0{pair.response}"
    return Channel(
        delay_ns=line_delay_ns(brought(pair, hardware=pair.response in source.physical).value),
        order=0 if dynamics is None else dynamics.order,
        frequency=0.0 if lag is None else 2.0 * math.pi * lag.value,
        damping=0.0 if damping is None else damping.value,
        gain=pair.gain.value if pair.gain is not None and follows else 1.0,
        noise=pair.noise.value * abs(factor),
        step=pair.quantisation * abs(factor),
        key=int.from_bytes(sha256(text.encode()).digest()[:8], "little"),
    )


def _place(name: str) -> tuple[str, int]:
    """Return the connector of a scalar, and its place in it."""
    element = _ELEMENT.fullmatch(name)
    return (element["name"], int(element["index"])) if element else (name, 0)


def twin_of(source: Source) -> TwinFile:
    """Return what a twin is of, in the time of the clock that its source says."""
    path = source.file
    assert path is not None  # noqa: S101 - every twin has a file
    try:
        found = path.stat()
    except OSError:
        return read_twin(path)  # which says that it is not there
    twin = _read(path, found.st_mtime_ns, found.st_size)
    return in_run_time([twin], twin.component)[0][0] if source.has_own_clock else twin


@lru_cache(maxsize=16)
def _read(path: Path, changed_ns: int, size: int) -> TwinFile:
    del changed_ns, size  # of the file that was read: another one is read anew
    return read_twin(path)
