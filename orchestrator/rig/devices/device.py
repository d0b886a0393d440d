"""What adapters are made of: base classes, their settings, what devices take, give and send."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.diagnostics.validation import Table
from orchestrator.core.structs import Struct
from orchestrator.core.system import Connector, Value


class DeviceConnector(Struct):
    """One command or one measurement of a device, a Real.

    Parameters
    ----------
    name
        Unique within the device.
    unit
        Modelica notation, such as ``"N.m"``; ``"1"`` for a number.
    description
        One line for people.
    shape
        ``()`` for a scalar, else the array's extents.
    frame
        Name of the frame that its components are given in; ``None`` if it has none.
    minimum, maximum
        The ends of its range, for each element.
    start
        Of a command: what is sent until the run gives another; of a measurement: its value until
        the first sample has come.
    speed, acceleration
        Of a command: how fast it may change, per s and per s**2. What excites a device keeps to
        both; a command that is faster is sent slower.
    rests
        Of a command, when nobody gives it any more: ``"in place"``, as positions do; ``"at zero"``,
        as velocities and forces do.
    deceleration
        With which it comes to rest, per s**2; of what rests at zero: how fast it gets there, per s.
        Infinite: at once.
    follows
        Of a measurement: name of the command that it follows; one that stands while that moves ends
        the run. Empty: none.
    """

    name: str
    unit: str
    description: str = ""
    shape: tuple[int, ...] = ()
    frame: str | None = None
    minimum: float = -math.inf
    maximum: float = math.inf
    start: float = 0.0
    speed: float = math.inf
    acceleration: float = math.inf
    rests: Literal["in place", "at zero"] = "in place"
    deceleration: float = math.inf
    follows: str = ""

    def __post_init__(self) -> None:
        if not (self.speed > 0.0 and self.acceleration > 0.0 and self.deceleration > 0.0):
            raise DescriptionError(
                f"'{self.name}': expected a speed, an acceleration and a deceleration > 0, found"
                f" {self.speed:g}, {self.acceleration:g} and {self.deceleration:g}"
            )
        if not self.minimum < self.maximum:
            raise DescriptionError(
                f"'{self.name}': expected a range, found {self.minimum:g} to {self.maximum:g}"
            )
        if not self.minimum <= self.start <= self.maximum:
            raise DescriptionError(
                f"'{self.name}': its start is {self.start:g} {self.unit}; expected one from"
                f" {self.minimum:g} to {self.maximum:g}"
            )

    @property
    def size(self) -> int:
        """Number of its elements."""
        return math.prod(self.shape)

    @property
    def ramp(self) -> float:
        """With which a command catches up that was held back or lost, per s**2."""
        if self.rests == "at zero":
            return math.inf
        return self.acceleration if math.isfinite(self.acceleration) else self.deceleration

    @property
    def scalars(self) -> list[str]:
        """Names of its elements, ``name[i]`` of an array."""
        return [f"{self.name}[{i}]" for i in range(self.size)] if self.shape else [self.name]

    @property
    def range(self) -> tuple[float | None, float | None]:
        """The ends of its range; ``None`` where it has none."""
        low = None if math.isinf(self.minimum) else self.minimum
        return low, None if math.isinf(self.maximum) else self.maximum


def slices_of(connectors: Iterable[DeviceConnector]) -> dict[str, slice]:
    """Return where the elements of each connector stand among those of all, by its name."""
    slices, first = {}, 0
    for connector in connectors:
        slices[connector.name] = slice(first, first + connector.size)
        first += connector.size
    return slices


class DeviceConnectors(Struct):
    """All that a device takes and gives.

    Parameters
    ----------
    inputs
        Its commands, in the order in which :meth:`~orchestrator.rig.devices.Device.send` has them.
    outputs
        Its measurements, in the order of :class:`~orchestrator.rig.devices.Received`.
    rate
        Samples per second that it sends.
    """

    inputs: tuple[DeviceConnector, ...]
    outputs: tuple[DeviceConnector, ...]
    rate: float

    def __post_init__(self) -> None:
        names = [connector.name for connector in (*self.inputs, *self.outputs)]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise DescriptionError(f"a device has {', '.join(map(repr, twice))} more than once")
        if not (self.rate > 0.0 and math.isfinite(self.rate)):
            raise DescriptionError(f"expected a rate > 0 Hz, found {self.rate:g}")


class Received(Struct):
    """One sample of a device.

    Parameters
    ----------
    values
        Of the outputs in the order of the device's connectors, arrays row by row.
    device_time
        In seconds, by the device's own clock; ``None`` if it sends none.
    sequence
        The device's own count of its samples, which shows lost and repeated ones; ``None``
        if it has none.
    valid
        Whether the device itself says that the values can be used.
    status
        The device's own status word, for messages; 0 if it has none.
    late_answers
        How many answers the device has found late so far, by its own count: commands that it did
        not take in their cycle. ``None`` if it does not say.
    taken
        The newest command that the device has taken: the how-many-th :meth:`Device.send` since
        :meth:`Device.open`, 0 before the first. ``None`` if it does not say.
    age
        How old it is at most when it is received, in s: that of the request which it answers.
        ``None`` if the device is not asked.
    in_force
        The command that the device has in force when it sends the sample, in the order of the
        inputs. A device that shows another one than it was sent has restarted. ``None`` if it does
        not say.
    """

    values: Sequence[float]
    device_time: float | None = None
    sequence: int | None = None
    valid: bool = True
    status: int = 0
    late_answers: int | None = None
    taken: int | None = None
    age: float | None = None
    in_force: Sequence[float] | None = None


Seconds = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]


class DeviceSettings(Table):
    """What is done with any device; adapters add the settings of their own.

    Parameters
    ----------
    connect_timeout
        How long the first sample may take, in seconds.
    stale_after
        From which age on a sample is stale, in seconds.
    command_stale_after
        For how long, beyond its step, a run may give no new command, in seconds; the device may
        take none for three times as long. Then the process of the device brings its commands to
        rest by their limits and gives no more signs of life. It counts whole cycles of the device,
        at least three. With a supervisor that one's ``command_stale`` comes first.
    on_stale
        What a stale sample does: ``"stop"`` ends the run, ``"hold"`` goes on with it.
    out_of_range
        What a command beyond the range of its connector does: ``"stop"`` ends the run, ``"clamp"``
        sends the nearest value within it and counts: the loop is not the one that was armed then.
        What is not finite always ends the run.
    run_on
        For how many seconds a run goes on when its device is lost: the device is led to its safe
        state, its last values stand, ``valid`` is 0, and its clock goes on by this machine's time,
        so that simulated components come to rest. Then the run ends. Without a supervisor only.
    supervisor
        Name of the rig whose supervisor watches it, which runs already; empty: none does. A run
        with ``[supervisor]`` sets it by itself.
    sample_log
        File that gets every sample and every command that was sent, at the end; empty: none. An
        identification sets it by itself.
    """

    connect_timeout: Seconds = 5.0
    stale_after: Seconds = 0.1
    command_stale_after: Seconds = 0.1
    on_stale: Literal["stop", "hold"] = "stop"
    out_of_range: Literal["clamp", "stop"] = "stop"
    run_on: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] = 0.0
    supervisor: str = ""
    sample_log: str = ""

    @property
    def own_watchdog(self) -> float:
        """After how long without a sign of life the device stops by itself, s; infinite: never."""
        return math.inf

    @model_validator(mode="after")
    def _one_end(self) -> Self:
        if self.run_on and self.supervisor:
            raise ValueError(
                f"run_on: expected 0 of a supervised device, found {self.run_on:g} s: the"
                f" supervisor of rig '{self.supervisor}' decides when its run ends"
            )
        watchdog, stale_after = self.own_watchdog, self.command_stale_after
        if "command_stale_after" in self.model_fields_set and stale_after > watchdog:
            raise ValueError(
                f"command_stale_after: expected at most {watchdog:g} s, after which the device's"
                " own"
                f" watchdog stops it, found {stale_after:g} s"
            )
        return self


class Device(ABC):
    """A device that can stand in the place of a component.

    A subclass is registered by an entry point ``softdock.devices``. It runs in a process of its
    own, one for each device of a run, so that no step of a run waits for a wire: that process
    calls :meth:`open` before the run, then :meth:`receive` again and again, :meth:`send` for every
    command, and :meth:`close` after the run. Everything that is common to devices is done around
    it and must not be done in it: the age of samples, lost, late and repeated ones, the range of
    commands, the reaction to silence.

    Parameters
    ----------
    settings
        Validated, an instance of :attr:`Settings`. Nothing may be opened yet.
    """

    #: The form of its settings; a key that it does not have is refused before anything is opened.
    Settings: ClassVar[type[DeviceSettings]] = DeviceSettings
    #: Whether each datagram that is received must be answered by one with a command: then the
    #: device is the clock. If not, :meth:`send` is called as soon as there is a new command, in a
    #: thread of its own next to :meth:`receive`.
    answers: ClassVar[bool] = False
    #: Whether a device that is answered takes commands without a sample before them as well: then
    #: it is brought to rest although its samples do not come.
    takes_unasked: ClassVar[bool] = False
    #: After how many samples the device's counter begins again at 0; ``None``: never.
    sequence_period: int | None = None

    def __init__(self, settings: DeviceSettings) -> None:
        self.settings = settings

    @classmethod
    @abstractmethod
    def connectors(cls, settings: DeviceSettings) -> DeviceConnectors:
        """Return what the device takes and gives with these settings; nothing is opened for it.

        Raises
        ------
        DescriptionError
            If the settings do not fit each other.
        """

    @classmethod
    def layout(cls, settings: DeviceSettings) -> Mapping[str, str]:
        """Return where scalar outputs lie on the wire, by name, such as ``byte 20, f64``.

        ``softdock devices probe`` shows it next to the values. The default says nothing.
        """
        return {}

    @classmethod
    def stepped(cls, settings: DeviceSettings) -> SteppedDevice | None:
        """Return what a run steps, if with these settings the device has no clock of its own.

        Nothing may be opened yet. Then there is no process, and no sample: :meth:`connectors` and
        all below are not used.

        Raises
        ------
        DescriptionError
            If the settings do not fit each other.
        """
        return None

    @abstractmethod
    def open(self) -> None:
        """Connect to the device.

        Raises
        ------
        DeviceError, OSError
            If it is not there, the port is in use, or a permission is missing. An ``OSError`` is
            told as it is, with the name of the device.
        """

    @abstractmethod
    def close(self) -> None:
        """Disconnect; it may be called after an :meth:`open` that failed, and more than once."""

    @abstractmethod
    def receive(self, timeout_s: float) -> Received | None:
        """Wait for the next sample.

        Parameters
        ----------
        timeout_s
            Timeout in s.

        Returns
        -------
        Received or None
            ``None`` if none came in time.

        Raises
        ------
        WireFormatError
            If what came is no sample of this protocol: it is counted, and receiving goes on.
        DeviceError, OSError
            If the connection is lost: the device is dead for the rest of the run.
        """

    @abstractmethod
    def send(self, values: Sequence[float]) -> None:
        """Send a command.

        Parameters
        ----------
        values
            Of the inputs in the order of :meth:`connectors`, arrays row by row: finite, and within
            the range of their connector. If the device :attr:`answers`, they answer the sample
            that was received last.

        Raises
        ------
        DeviceError, OSError
            As :meth:`receive`.
        """

    def account(self) -> str:
        """Say who the device is on the wire, and what others sent; empty: there is nothing to say.

        It is part of the notes of a run, and of the error when its samples are stale.
        """
        return ""

    def safe(self, values: Sequence[float]) -> Sequence[float] | None:
        """Return the command that is sent last, before :meth:`close`, when a run ends or fails.

        Parameters
        ----------
        values
            The values that were sent last, in the order of :meth:`send`.

        Returns
        -------
        Sequence or None
            The default holds them; ``None``: nothing is sent.
        """
        return values


class SteppedConnectors(Struct):
    """What a stepped device takes and gives.

    Parameters
    ----------
    connectors
        Inputs and outputs.
    feedthrough
        For each output the inputs that act on it at once, when it is initialised.
    step
        In s, of which every step is a whole multiple; ``None``: any step.
    """

    connectors: tuple[Connector, ...]
    feedthrough: Mapping[str, tuple[str, ...]]
    step: float | None = None


class SteppedDevice(ABC):
    """A device, or another tool, that computes on request, while the run waits.

    Its values are exact: no sample is late, lost or old. Errors are ``DeviceError`` or ``OSError``.
    """

    @abstractmethod
    def connectors(self) -> SteppedConnectors:
        """Return what it takes and gives; nothing is opened for it."""

    @abstractmethod
    def open(self) -> None:
        """Connect to the device and configure it."""

    @abstractmethod
    def set(self, name: str, value: Value | Sequence[Value]) -> None:
        """Hold the value of an input until the next step, an array as its elements row by row."""

    @abstractmethod
    def get(self, name: str) -> Value | Sequence[Value]:
        """Return an output, consistent with the inputs while the device is being initialised."""

    @abstractmethod
    def begin(self) -> None:
        """End the initialisation."""

    @abstractmethod
    def step(self, time: float, step: float) -> None:
        """Let the device compute from a time on, in s, and wait for its outputs."""

    @abstractmethod
    def close(self) -> None:
        """Disconnect; also after an :meth:`open` that failed, and more than once."""

    @abstractmethod
    def account(self) -> str:
        """Say what it was, and what its delay is, for the report of a run."""
