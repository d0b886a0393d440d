"""Twins as units: an FMU or block with the delay, lag, noise and rounding of a device."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import astuple, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import (
    DescriptionError,
    UnitMismatchError,
    UnknownNameError,
    listed_names,
)
from orchestrator.core.simunits import Notice, SimulationUnit, UnitDescription
from orchestrator.core.simunits.registry import UnitKind
from orchestrator.core.structs import Struct
from orchestrator.core.system import (
    Causality,
    Component,
    Connector,
    DataType,
    Source,
    SourceKind,
    Value,
    conversion_between,
)
from orchestrator.engine import TwinUnit as NativeUnit
from orchestrator.rig.hardware.line_delay import brought, line_delay_ns
from orchestrator.rig.hardware.twin_file import SignalPair, TwinFile, in_run_time, read_twin

if TYPE_CHECKING:
    from orchestrator.core.simunits import WorkerProcess
    from orchestrator.core.simunits.protocol import Floats


_ELEMENT = re.compile(r"(?P<name>.+)\[(?P<index>\d+)\]")


class TwinChannel(Struct):
    """What one scalar of an output passes through, in the unit of its connector.

    delay_ns: Nanoseconds: of the device, and of the way there and back unless hardware carries it
        on.
    order: Of the lag.
    frequency: rad/s; 0 without a lag.
    damping: Ratio; 0 but with the second order.
    gain: Of the device, where it follows a command of the same unit; else 1, and no lag, as the
        model has its own.
    noise: Standard deviation.
    step: Of the values; 0: any.
    key: Of the noise.
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
            f"component '{name}' ({source}): a twin needs the FMU or block that it wraps; name"
            f" it: {source}?inner=FILE.fmu, or inner=block:NAME"
        )
    return source.around(inner)


def inner_of(component: Component) -> Component:
    """Return the component that a twin is around."""
    source = complete_twin(component.source, component.name, None)
    assert source.inner is not None  # noqa: S101 - it is complete
    return replace(component, source=source.inner, has_event_mode=False)


def late_outputs(source: Source, inner: UnitDescription) -> dict[str, int]:
    """Return by how many nanoseconds outputs of a twin are late, all their elements at least."""
    delays: dict[str, int] = {}
    for name, channel in channels_of(source, inner).items():
        output = _scalar(name)[0]
        delays[output] = min(channel.delay_ns, delays.get(output, channel.delay_ns))
    return {output: late_ns for output, late_ns in delays.items() if late_ns > 0}


def channels_of(source: Source, inner: UnitDescription) -> dict[str, TwinChannel]:
    """Return what each scalar of an output passes through, by its name.

    Responses of the device that what it is around has not are left out.
    """
    twin = twin_of(source)
    outputs = {c.name: c for c in inner.of(Causality.OUTPUT) if c.type is DataType.REAL}
    channels = dict(_channels(source, twin, outputs))
    _expect_commands(source, twin, channels, inner)
    if not channels:
        raise UnknownNameError(
            f"{source}: a twin of '{twin.component}' ({twin.device}): expected a response of the"
            f" device among the outputs of the wrapped component ({listed_names(list(outputs))}),"
            f" found: {', '.join(pair.response for pair in twin.pair)}"
        )
    return channels


def _expect_commands(
    source: Source, twin: TwinFile, responses: Collection[str], inner: UnitDescription
) -> None:
    """Expect that what it is around takes the commands of the device."""
    inputs = [connector.name for connector in inner.of(Causality.INPUT)]
    for pair in twin.pair:
        if pair.command is None or pair.response not in responses:
            continue
        if _scalar(pair.command)[0] not in inputs:
            raise UnknownNameError(
                f"{source}: a twin of '{twin.component}' ({twin.device}), whose '{pair.response}'"
                f" follows '{pair.command}': expected it among the inputs of the wrapped"
                f" component ({listed_names(inputs) or 'none'})"
            )


def _channels(
    source: Source, twin: TwinFile, outputs: dict[str, Connector]
) -> Iterator[tuple[str, TwinChannel]]:
    for pair in twin.pair:
        name, index = _scalar(pair.response)
        connector = outputs.get(name)
        if connector is None or not 0 <= index < connector.size:
            continue
        identified = replace(connector, unit=pair.response_unit, unit_definition=None)
        try:
            factor, _ = conversion_between(identified, connector)
        except UnitMismatchError as error:
            raise UnitMismatchError(f"{source}: {error}") from None
        yield pair.response, _channel(source, twin, pair, factor)


def _channel(source: Source, twin: TwinFile, pair: SignalPair, factor: float) -> TwinChannel:
    follows = pair.gain is not None and pair.command_unit == pair.response_unit
    dynamics = pair.dynamics if follows else None  # else the model has its own, as it has its gain
    lag = None if dynamics is None else dynamics.lag
    text = f"{source.seed}\0{twin.component}\0{pair.response}"
    return TwinChannel(
        delay_ns=line_delay_ns(brought(pair, hardware=pair.response in source.physical).value),
        order=0 if dynamics is None else dynamics.order,
        frequency=0.0 if lag is None else 2.0 * math.pi * lag.frequency,
        damping=0.0 if lag is None or lag.damping is None else lag.damping,
        gain=pair.gain.value if pair.gain is not None and follows else 1.0,
        noise=pair.noise.value * abs(factor),
        step=pair.quantisation * abs(factor),
        key=int.from_bytes(sha256(text.encode()).digest()[:8], "little"),
    )


def _scalar(name: str) -> tuple[str, int]:
    """Return the connector of a scalar, and its place in it."""
    element = _ELEMENT.fullmatch(name)
    return (element["name"], int(element["index"])) if element else (name, 0)


def twin_of(source: Source) -> TwinFile:
    """Return what a twin is of, in the time of the clock that its source says."""
    path = source.file
    assert path is not None  # noqa: S101 - every twin has a file
    try:
        status = path.stat()
    except OSError:
        return read_twin(path)  # which says that it is not there
    twin = _read(path, status.st_mtime_ns, status.st_size)
    return in_run_time([twin], twin.component)[0][0] if source.has_own_clock else twin


@lru_cache(maxsize=16)
def _read(path: Path, changed_ns: int, size: int) -> TwinFile:
    del changed_ns, size  # of the file that was read: another one is read again
    return read_twin(path)


class TwinKind(UnitKind):
    """A twin is around an FMU or a block, which all options are for."""

    def complete(self, source: Source, name: str, like: Component | None) -> Source:
        """Say what it is around."""
        return complete_twin(source, name, like)

    def describe(self, component: Component, *, runnable: bool) -> UnitDescription:
        """Describe it by what it is around: outputs that are late depend on nothing at once."""
        from orchestrator.core.simunits import description_of

        inner, source = description_of(inner_of(component), runnable=runnable), component.source
        late_ns, twin = late_outputs(source, inner), twin_of(source)
        capabilities = replace(
            inner.capabilities,
            can_serialize=False,
            has_directional_derivatives=False,
            has_event_mode=False,
        )
        return replace(
            inner,
            feedthrough={**inner.feedthrough, **dict.fromkeys(late_ns, ())},
            capabilities=capabilities,
            has_states=True,
            details={
                **inner.details,
                "twin": str(source.file),
                "device": f"{twin.component} ({twin.device}), {twin.date.isoformat()}",
            },
        )

    def make(
        self, component: Component, processes: dict[str, WorkerProcess] | None
    ) -> SimulationUnit:
        """Make it around the unit of what it is around."""
        from orchestrator.core.simunits import make_unit

        inner = make_unit(inner_of(component), processes=processes)
        return TwinUnit(component, self.describe(component, runnable=True), inner)

    def late_ns(self, source: Source, description: UnitDescription) -> Mapping[str, int]:
        """Return what its device adds."""
        return late_outputs(source, description)


class TwinUnit(SimulationUnit):
    """Runs a unit whose outputs are late, lag, are noisy and rounded as those of a device.

    component: Whose source it is.
    description: What it says of itself.
    inner: The unit that it is around.
    """

    native: NativeUnit

    def __init__(
        self, component: Component, description: UnitDescription, inner: SimulationUnit
    ) -> None:
        super().__init__(component.name, description, NativeUnit(inner.native))
        self._inner = inner
        self._channels = channels_of(component.source, inner.description)
        self._start_ns = 0

    def _set_values(self, values: Mapping[str, Value]) -> None:
        self._inner.set_values(values)

    def _bind(self) -> None:
        self._inner.bind(
            [c.name for c in (*self.inputs, *self.text_inputs)],
            [c.name for c in (*self.outputs, *self.text_outputs)],
        )
        self.native = NativeUnit(self._inner.native)  # a block has another one once it is bound
        numbers = {name: number for number, name in enumerate(self._channels)}
        scalars = [
            f"{c.name}[{i}]" if c.shape else c.name for c in self.outputs for i in range(c.size)
        ]
        self.native.bind(
            [astuple(channel) for channel in self._channels.values()],
            [numbers.get(name, -1) for name in scalars],
        )

    def _setup(self, start_ns: int, stop_ns: int | None) -> None:
        self._start_ns = start_ns
        self._inner.setup(start_ns, stop_ns)

    def _initialise_outputs(self, start_ns: int) -> None:
        self._inner.initialise_outputs(start_ns)

    def _exit_initialisation(self) -> None:
        self._inner.exit_initialisation()
        self._check(self.native.begin(self._start_ns), "beginning")

    def _get_state(self) -> object:
        raise self._cannot("save its state in a checkpoint: it is a twin")

    def _set_state(self, state: object) -> None:
        self._get_state()

    def _value(self, connector: Connector) -> Value | Floats:
        if any(name.partition("[")[0] == connector.name for name in self._channels):
            return super()._value(connector)
        return self._inner.value(connector.name)

    def last_ns(self, time_ns: int) -> int:
        """Return the time that the unit within reached."""
        return self._inner.last_ns(time_ns)

    def forward_log(self) -> None:
        """Pass messages of the unit within on to the logging of Python."""
        self._inner.forward_log()

    def last_message(self) -> str:
        """Return the last message that the FMU wrote."""
        return self._inner.last_message()

    def exception(self) -> BaseException | None:
        """Return the exception that ended the last step of the unit within, if there was one."""
        return self._inner.exception()

    @property
    def notes(self) -> tuple[str, ...]:
        """What the unit within has to say, and what is around it."""
        late_texts = (
            f"{name} ({c.delay_ns / 1e6:g} ms late)" for name, c in self._channels.items()
        )
        note = (
            f"component '{self.name}' was a twin ({self.description.details['device']}):"
            f" {', '.join(late_texts)} with its delay, lag, noise and rounding"
        )
        return (*super().notes, *self._inner.notes, note)

    def notices(self) -> tuple[Notice, ...]:
        """Return what the unit within warns of."""
        return self._inner.notices()

    def terminate(self) -> None:
        """End the unit within; allowed at any time and more than once."""
        super().terminate()
        self._inner.terminate()
