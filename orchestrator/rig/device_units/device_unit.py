"""A device as a simulation unit: in a process of its own with its clock, or stepped by the run."""

from __future__ import annotations

import logging
import os
import weakref
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from orchestrator.core import operating_system
from orchestrator.core.diagnostics import (
    CapabilityError,
    CommandStaleError,
    DescriptionError,
    DeviceError,
    Diagnostic,
    counted,
    error_named,
)
from orchestrator.core.own_process import OwnProcess
from orchestrator.core.simunits import Notice, SimulationUnit, UnitDescription
from orchestrator.core.simunits.fmi.foreign_unit import ForeignUnit, Importer
from orchestrator.core.simunits.isolation.wire import receive, send, send_memory
from orchestrator.core.simunits.protocol import Phase
from orchestrator.core.system import Connector, Value
from orchestrator.engine import DeviceBlock, SampleFacts, TickClock
from orchestrator.engine import DeviceUnit as NativeUnit
from orchestrator.rig.device_units.facts import HEALTH, device_facts
from orchestrator.rig.device_units.samples import other_rate
from orchestrator.rig.devices import SteppedDevice
from orchestrator.rig.devices.device import slices_of

if TYPE_CHECKING:
    from orchestrator.core.simunits.protocol import Floats


_MODULE = "orchestrator.rig.device_units.io_loop"
#: What the start of an interpreter may take, also on a busy machine, in seconds.
_START = 60.0
#: What the way to the safe state may take.
_END = 5.0


class IoProcess:
    """Leads one device in a process of its own.

    component: Whose device it is, for messages.
    location: Of its source.
    commands, measurements: How many scalars it takes and gives.
    """

    def __init__(self, component: str, location: str, commands: int, measurements: int) -> None:
        self._component, self._location = component, location
        self._context = f"component '{component}' (device '{location.partition('?')[0]}')"
        self._size = {"commands": commands, "measurements": measurements}
        self._memory = operating_system.shared_memory(
            component, DeviceBlock.size(commands, measurements)
        )
        weakref.finalize(self, os.close, self._memory)
        self.block = DeviceBlock(self._memory, commands, measurements)
        self._process: OwnProcess | None = None
        self._error: DeviceError | None = None
        #: What the device says of itself at the end: see :meth:`Device.account`.
        self.account = ""

    def open(self, seconds: float) -> None:
        """Start the process, and wait until the device is open and its first sample is there.

        seconds: What the device may take for it.
        Raises DeviceError: if it does not open, or the process does not start.
        """
        try:
            self._process = OwnProcess(
                _MODULE,
                self._component,  # for who looks for its process: ps, trials
                connected=True,
                folder="softdock-device-",
            )
        except OSError as error:
            raise self._failed(f"its process cannot be started: {error}") from None
        self._channel, self.pid = self._process.channel, self._process.pid
        try:
            hello = {"component": self._component, "location": self._location}
            send(self._channel, {**hello, **self._size})
            send_memory(self._channel, self._memory, 0)
            answer = self._receive(_START + seconds)
        except (OSError, EOFError, ValueError):
            self.kill()
            raise self._failed(
                "its process ended or did not answer before the device was open; see its output"
                " on stderr"
            ) from None
        if "error" in answer:
            self.kill()
            raise self._raised(answer)

    def error(self) -> DeviceError | None:
        """Return why the device was lost, if it was."""
        if self._error is None and self._is_led:
            try:
                answer = self._receive(0.0)
            except TimeoutError:
                return None
            except (OSError, EOFError, ValueError):
                self._error = self._failed("its process has ended")
            else:
                self.account = str(answer.get("account", ""))
                self._error = self._raised(answer) if "error" in answer else None
        return self._error

    def loss(self) -> DeviceError | None:
        """Return why its process gave the device up, which it may still lead to rest."""
        return self._failed(self.block.reason) if self.block.lost else None

    def close(self) -> DeviceError | None:
        """Let the device come to its safe state, and end the process; allowed more than once."""
        if not self._is_led:
            return None
        error = self.error()
        if error is None:
            try:
                send(self._channel, {"call": "quit"})
                answer = self._receive(_END)
                self.account = str(answer.get("account", ""))
                error = self._raised(answer) if "error" in answer else None
            except TimeoutError:
                error = self._failed(
                    f"it did not reach its safe state within {_END:g} s; its process was ended"
                )
            except (OSError, EOFError, ValueError):
                error = self._failed("its process ended before it reached its safe state")
        self.kill()
        return error

    def kill(self) -> None:
        """End the process at once."""
        if self._process is not None:
            self._process.end()

    @property
    def _is_led(self) -> bool:
        return self._process is not None and self._process.end.alive

    def _receive(self, seconds: float) -> dict[str, Any]:
        assert self._process is not None  # noqa: S101 - it is open
        self._process.await_message(self._channel, seconds)
        self._channel.settimeout(max(seconds, 1.0))
        content, _ = receive(self._channel)
        if not isinstance(content, dict):
            raise ValueError("no message of a device")  # noqa: TRY004 - damage, as of any other form
        return content

    def _failed(self, reason: str) -> DeviceError:
        return DeviceError.about(reason, place=self._context)

    def _raised(self, answer: dict[str, Any]) -> DeviceError:
        kind = error_named(str(answer["error"])) or DeviceError
        error = kind(*(Diagnostic(**fields) for fields in answer["diagnostics"]))
        of = type(error) if isinstance(error, DeviceError) else DeviceError
        return of(*error.within(self._context))


_LOG = logging.getLogger(__name__)


class DeviceUnit(SimulationUnit):
    """Runs a device in the place of a component.

    A step waits for nothing: a process of the device's own puts samples into shared memory, of
    which the unit reads the newest, and sends the newest command that the unit leaves there. The
    device is opened when the unit is set up; commands flow from the end of the initialisation.

    name: Of the component.
    location: Of its source: the adapter, and its settings.
    description: What it says of itself.
    """

    native: NativeUnit

    def __init__(self, name: str, location: str, description: UnitDescription) -> None:
        facts = device_facts(location)
        self._settings, self._rate = facts.settings, facts.ports.rate
        self._commands = slices_of(facts.ports.inputs)
        self._outputs = slices_of(facts.ports.outputs)
        size = sum(port.size for port in facts.ports.outputs)
        self._outputs |= {
            health: slice(size + i, size + i + 1) for i, (health, _, _) in enumerate(HEALTH)
        }
        limits = [
            (scalar, port.minimum, port.maximum, port.start)
            for port in facts.ports.inputs
            for scalar in port.scalars
        ]
        settings = self._settings
        self.silence = (
            settings.connect_timeout if settings.on_stale == "hold" else settings.stale_after
        )
        self._process = IoProcess(name, location, len(limits), size)
        native = NativeUnit(
            self._process.block,
            name,
            round(self._settings.stale_after * 1e9),
            self._settings.on_stale == "hold",
            self._settings.out_of_range == "clamp",
            limits,
        )
        super().__init__(name, description, native)
        self._begun: SampleFacts | None = None
        self._last: DeviceError | None = None
        self._missed = False  # a step failed for want of the device

    @property
    def pid(self) -> int:
        """Number of the process that leads the device, once it is set up."""
        return self._process.pid

    @property
    def period_ns(self) -> int:
        """Time between two samples, by the device, in nanoseconds."""
        return round(1e9 / self._rate)

    def step_clock(self) -> TickClock:
        """Return the device's clock: it ticks with each sample that the device counts."""
        ticks = self._process.block.ticks
        stale_ns = round(self._settings.stale_after * 1e9)
        return TickClock(ticks, self.period_ns, round(self.silence * 1e9), stale_ns)

    def _set_values(self, values: Mapping[str, Value]) -> None:
        for name, value in values.items():
            connector = self.description.connectors[name]
            if name not in self._commands:
                raise DescriptionError(
                    f"component '{self.name}': '{name}' is not a command of this device; expected"
                    f" one of {', '.join(self._commands) or 'none: it has no commands'}"
                )
            if (refusal := connector.refusal(value)) is not None:
                raise DescriptionError(f"component '{self.name}': command '{name}': {refusal}")
            first = self._commands[name].start
            for i, element in enumerate(np.ravel(np.asarray(value, dtype=np.float64)).tolist()):
                self._check(self.native.give(first + i, element), f"setting '{name}'")

    def _bind(self) -> None:
        self.native.bind(
            _numbers(self._commands, self.inputs), _numbers(self._outputs, self.outputs)
        )

    def _setup(self, start_ns: int, stop_ns: int | None) -> None:
        self._process.open(self._settings.connect_timeout)

    def _initialise_outputs(self, start_ns: int) -> None:
        self.native.refresh()

    def _exit_initialisation(self) -> None:
        self._check(self.native.begin(), "beginning")
        self._begun = self.native.facts

    def _value(self, connector: Connector) -> Value | Floats:
        if connector.name not in self._outputs:
            return super()._value(connector)
        values = np.array(self.native.values[self._outputs[connector.name]])
        return values if connector.shape else float(values[0])

    def _get_state(self) -> object:
        raise CapabilityError(f"component '{self.name}' is a device, which cannot go back in time")

    def _set_state(self, state: object) -> None:
        self._get_state()

    def exception(self) -> BaseException | None:
        """Return why the device was lost, if it was."""
        self._missed = True
        return self._process.error() or self._process.loss()

    @property
    def remark(self) -> str:
        """What is wrong with the samples at the moment, in words."""
        return self._process.block.remarked

    def notices(self) -> tuple[Notice, ...]:
        """Return what was wrong with samples and commands so far."""
        return tuple(replace(notice, component=self.name) for notice in self._noticed())

    def _noticed(self) -> Iterator[Notice]:
        native = self.native
        if native.stale_steps and self._settings.on_stale == "hold":  # else the step failed
            limit = f"{self._settings.stale_after:g} s (stale_after)"
            reason = f": {self._process.block.reason}" if self._process.block.lost else ""
            text = (
                f"samples older than {limit} were held in"
                f" {counted(native.stale_steps, 'step')}{reason}"
            )
            yield Notice(
                native.first_stale_ns, text, "from then on the results are not those of the rig"
            )
        clamped = int(native.values[self._outputs["clamped"].start])
        if clamped:
            text = f"commands outside their range, sent as the nearest value inside it: {clamped}"
            yield Notice(native.first_clamped_ns, text)
        if native.unsent:
            text = (
                "commands outside their range while the device was held, which were not sent:"
                f" {native.unsent}"
            )
            yield Notice(native.first_unsent_ns, text)

    @property
    def notes(self) -> tuple[str, ...]:
        """What came over the wire in this run, in a sentence."""
        facts = self.native.facts
        summary = (
            f"component '{self.name}' was a device: {counted(facts.number, 'sample')},"
            f" {facts.lost} lost,"
            f" {facts.late} late, {facts.repeated} repeated, {facts.malformed} malformed,"
            f" {counted(facts.restarts, 'restart')}"
        )
        if facts.shaped:
            summary += (
                "; commands that changed faster than their limit, slowed down to it:"
                f" {facts.shaped}"
            )
        if self._commands:
            summary += (
                f"; commands not taken: {facts.missed}" if facts.taken >= 0
                else "; it does not report which commands it takes"
            )  # fmt: skip
        summary += f"; {self._process.account}" if self._process.account else ""
        last = () if self._last is None else (str(self._last),)
        if self._begun is not None:
            summary += other_rate(self._begun, facts, self._rate)
        return (*super().notes, summary, *last)

    def terminate(self) -> None:
        """Leave the device in its safe state and end its process; allowed at any time.

        A run that had done its steps, and was long in closing it, has missed nothing of it.
        """
        is_over = self.phase is Phase.TERMINATED
        super().terminate()
        if is_over:
            return
        last, missed = self._process.close(), self._missed or self.native.stale_steps
        self._last = None if isinstance(last, CommandStaleError) and not missed else last
        if self._last is not None:
            _LOG.error("%s", self._last)


def _numbers(slices: Mapping[str, slice], bound: Iterable[Connector]) -> list[int]:
    spans = (slices[connector.name] for connector in bound)
    return [number for span in spans for number in range(span.start, span.stop)]


class SteppedUnit(ForeignUnit):
    """Sends inputs and takes outputs in each step, and waits for the device in between.

    name: Of the component.
    description: What it says of itself.
    device: That is stepped.
    """

    def __init__(self, name: str, description: UnitDescription, device: SteppedDevice) -> None:
        self._device = device
        super().__init__(name, description, _Stepped(device))

    @property
    def notes(self) -> tuple[str, ...]:
        """What it was, in a sentence."""
        return (*super().notes, f"component '{self.name}' was {self._device.account()}")

    def terminate(self) -> None:
        """Release the device; allowed at any time."""
        super().terminate()
        self._device.close()


class _Stepped(Importer):
    """What a unit does with a device that it steps."""

    def __init__(self, device: SteppedDevice) -> None:
        self._device = device

    def set(self, name: str, value: Any) -> None:
        self._device.set(name, value)

    def get(self, name: str) -> Any:
        return self._device.get(name)

    def enter_initialisation(
        self, start: float, stop: float | None, tolerance: float | None
    ) -> None:
        self._device.open()

    def exit_initialisation(self) -> None:
        self._device.begin()

    def step(self, time: float, step: float) -> None:
        self._device.step(time, step)

    def terminate(self) -> None:
        self._device.close()
