"""The protocol of everything that a master can step, and what a unit says of itself."""

from __future__ import annotations

import logging
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar

from orchestrator.core.diagnostics import CapabilityError, StepError
from orchestrator.core.structs import Struct, field
from orchestrator.core.system import Causality, Connector, DataType, Value, seconds
from orchestrator.engine import Surroundings, Unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from orchestrator.core.system.ports import Limits
    from orchestrator.engine import StepClock


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a master may ask of a unit.

    ``input_order`` is the highest derivative of its inputs that it takes within a step; 0: they are
    held. ``fixed_step`` is a length in seconds of which every step must be a whole multiple, and
    ``longest_step`` one that no step may exceed; ``None``: there is none.
    """

    can_roll_back: bool = False
    can_serialize: bool = False
    can_vary_step: bool = True
    has_directional_derivatives: bool = False
    input_order: int = 0
    has_event_mode: bool = False
    might_return_early: bool = False
    is_repeatable: bool = True
    is_realtime: bool = False
    once_per_process: bool = False
    fixed_step: float | None = None
    longest_step: float | None = None

    def fits_fixed_step(self, step_ns: int) -> bool:
        """Whether a step is a whole multiple of ``fixed_step``, to a nanosecond."""
        if self.fixed_step is None:
            return True
        fixed_ns = self.fixed_step * 1e9
        count = round(step_ns / fixed_ns)
        near = count > 0 and abs(step_ns - count * fixed_ns) <= 1.0
        return near or step_ns % max(1, round(fixed_ns)) == 0


class UnitDescription(Struct):
    """Ports, parameters and capabilities of a unit.

    name: Model name of the FMU, or the block's registered name.
    connectors: By name, in declared order.
    feedthrough: For every output the inputs that act on it at once.
    capabilities: See :class:`Capabilities`.
    has_states: Whether it remembers anything from step to step, as far as can be known.
    tunable: Parameters that may be set between two steps.
    variability: Of parameters that may not, in the words of FMI; what is missing is ``"fixed"``.
    ranges: What inputs and parameters may be set to, where that is declared.
    details: Facts for the report: FMI version, generation tool, GUID, module.
    """

    name: str
    connectors: Mapping[str, Connector]
    feedthrough: Mapping[str, tuple[str, ...]]
    capabilities: Capabilities = Capabilities()
    has_states: bool = True
    tunable: frozenset[str] = frozenset()
    variability: Mapping[str, str] = field(default_factory=dict)
    ranges: Mapping[str, Limits] = field(default_factory=dict)
    details: Mapping[str, str] = field(default_factory=dict)

    def of(self, causality: Causality) -> list[Connector]:
        """Return the connectors of one causality, in declared order."""
        return [c for c in self.connectors.values() if c.causality is causality]


class StepResult(Struct):
    """How one step of a unit ended.

    status: 0 ok, 1 warning, 2 discard, 3 error, 4 fatal, as fmi2Status.
    last_ns: The time that the unit reached, in nanoseconds.
    reason: What the unit said if it failed.
    """

    status: int
    last_ns: int
    reason: str = ""

    @property
    def failed(self) -> bool:
        """Whether the step was not completed."""
        return self.status > 1


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that a unit noticed while it ran.

    Parameters
    ----------
    time_ns
        When, in nanoseconds.
    what
        Finding and reaction, as text.
    advice
        What to do.
    safe
        Whether the unit went to its safe state, after which the results are not those of the
        intended run.
    component
        Name of the component; the master fills it in.
    """

    time_ns: int
    what: str
    advice: str = ""
    safe: bool = False
    component: str = ""

    def __str__(self) -> str:
        kind = "SAFE STATE" if self.safe else "warning"
        advice = f"; {self.advice}" if self.advice else ""
        whose = f" of component '{self.component}'" if self.component else ""
        return f"{kind}{whose} at {seconds(self.time_ns):.9g} s: {self.what}{advice}"


class Phase(IntEnum):
    """Phases of a unit, from its instantiation to its end."""

    INSTANTIATED = 0
    INITIALISING = 1
    STEPPING = 2
    TERMINATED = 3


#: The engine keeps a unit's signals in this order of types, declared order within a type.
_ORDER = (DataType.REAL, DataType.INTEGER, DataType.BOOLEAN, DataType.CLOCK)
#: And its texts, in a buffer of their own, in this order.
_TEXT_ORDER = (DataType.STRING, DataType.BINARY)


def signal_order(connectors: Iterable[Connector]) -> tuple[Connector, ...]:
    """Sort the numeric ones of connectors as the engine keeps them."""
    numbers = (c for c in connectors if not c.type.is_text)
    return tuple(sorted(numbers, key=lambda c: _ORDER.index(c.type)))


def text_order(connectors: Iterable[Connector]) -> tuple[Connector, ...]:
    """Sort the String and Binary ones of connectors as the engine keeps them."""
    texts = (c for c in connectors if c.type.is_text)
    return tuple(sorted(texts, key=lambda c: _TEXT_ORDER.index(c.type)))


if TYPE_CHECKING:
    Floats = NDArray[np.float64]


_DISCARD = 2
_LOG = logging.getLogger(__name__)


def changed_note(names: str, setting: str, doing: str) -> str:
    """Say what calls of units left changed."""
    return (
        f"component '{names}' changed {setting}, while {doing}, for all of the process; it was put"
        " back after the call: with isolation 'process' it may keep it, and nobody else sees it"
    )


def left_note(settings: str, doing: str) -> str:
    """Say what changed while units were called, and what nobody knows the cause of."""
    return (
        f"what changed for all of the process while {doing}, and was left so, as another thread of"
        f" this program ran meanwhile and may have meant it: {settings}"
    )


def put_back(before: Surroundings) -> tuple[list[str], list[str]]:
    """Put back what changed for all of the process; return what was, and what was left.

    ``os.environ`` is a copy of the environment, which is then read again.
    """
    changed, left = before.put_back()
    if changed:
        from orchestrator.core import operating_system

        present = operating_system.environment()
        for name in os.environ.keys() - present.keys():
            del os.environ[name]
        for name, value in present.items():
            if os.environ.get(name) != value:
                os.environ[name] = value
    return changed, left


class SimulationUnit(ABC):
    """A component that runs.

    Public methods check the phase; authors of a new kind override those with an underscore.
    Signals are float64; Integer and Boolean values are exact in it.

    name: The component's name, for messages.
    description: What the unit says of itself.
    native: The engine's handle of this unit.
    """

    #: Whether it shares its process with other units, so that it must leave that as it is.
    shares_process: ClassVar[bool] = True
    #: Seconds after which its clock, if a run waits for one, is silent.
    silence: float = math.inf

    def __init__(self, name: str, description: UnitDescription, native: Unit) -> None:
        self.name = name
        self.description = description
        self.native = native
        self.phase = Phase.INSTANTIATED
        self.inputs: tuple[Connector, ...] = ()
        self.outputs: tuple[Connector, ...] = ()
        self.text_inputs: tuple[Connector, ...] = ()
        self.text_outputs: tuple[Connector, ...] = ()
        self._changed: dict[str, str] = {}

    @contextmanager
    def _undisturbed(self, doing: str) -> Iterator[None]:
        """Put back what a call changes of what all units of this process share."""
        if not self.shares_process:
            yield
            return
        before = Surroundings()
        try:
            yield
        finally:
            self.has_changed(*put_back(before), doing)

    def has_changed(self, changes: Iterable[str], unresolved: Iterable[str], doing: str) -> None:
        """Remember, for the notes, what a call left changed and was put back, and what was not."""
        for text in unresolved:
            _LOG.warning("%s", left_note(text, f"component '{self.name}' was {doing}"))
        for text in changes:
            if text not in self._changed:
                self._changed[text] = doing
                _LOG.warning("%s", changed_note(self.name, text, doing))

    def _expect(self, *phases: Phase) -> None:
        if self.phase not in phases:
            expected = " or ".join(phase.name.lower() for phase in phases)
            raise StepError(
                f"component '{self.name}': called while {self.phase.name.lower()};"
                f" expected {expected}"
            )

    def set_values(self, values: Mapping[str, Value]) -> None:
        """Set parameters and start values, by connector name."""
        self._expect(Phase.INSTANTIATED, Phase.INITIALISING)
        with self._undisturbed("setting values"):
            self._set_values(values)

    def bind(self, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        """Choose the connectors that :meth:`set` and :meth:`get` transfer.

        They are transferred in the order of :attr:`inputs` and :attr:`outputs`: Reals, then
        Integers, Booleans and clocks. Strings, then binaries, are :attr:`text_inputs` and
        :attr:`text_outputs`, which :meth:`set_texts` and :meth:`get_texts` transfer.
        """
        self._expect(Phase.INSTANTIATED)
        connectors = self.description.connectors
        self.inputs = signal_order(connectors[name] for name in inputs)
        self.outputs = signal_order(connectors[name] for name in outputs)
        self.text_inputs = text_order(connectors[name] for name in inputs)
        self.text_outputs = text_order(connectors[name] for name in outputs)
        with self._undisturbed("binding its connectors"):
            self._bind()

    def setup(self, start_ns: int, stop_ns: int | None) -> None:
        """Announce the experiment (nanoseconds) and begin to initialise."""
        self._expect(Phase.INSTANTIATED)
        with self._undisturbed("setting up"):
            self._setup(start_ns, stop_ns)
        self.phase = Phase.INITIALISING

    def initialise_outputs(self, start_ns: int) -> None:
        """Make the outputs follow the inputs that were set, at the start time.

        It may be called again and again, also after :meth:`exit_initialisation` until the first
        step: the unit remembers nothing of the calls before.
        """
        self._expect(Phase.INITIALISING, Phase.STEPPING)
        with self._undisturbed("initialising"):
            self._initialise_outputs(start_ns)

    def exit_initialisation(self) -> None:
        """Finish the initialisation; the unit can step from here."""
        self._expect(Phase.INITIALISING)
        with self._undisturbed("exiting initialisation"):
            self._exit_initialisation()
        self.phase = Phase.STEPPING

    def begin_events(self) -> None:
        """Finish the initialisation, but for events at the start, which the master handles."""
        self._expect(Phase.INITIALISING)
        with self._undisturbed("exiting initialisation"):
            self._begin_events()
        self.phase = Phase.STEPPING

    def set(self, values: Floats | memoryview[float]) -> None:
        """Set all bound inputs from a contiguous float64 array of shape (n_inputs,)."""
        self._expect(Phase.INITIALISING, Phase.STEPPING)
        self._check(self.native.set_inputs(values), "setting its inputs")

    def get(self, values: Floats | memoryview[float]) -> None:
        """Read all bound outputs into a contiguous float64 array of shape (n_outputs,)."""
        self._expect(Phase.INITIALISING, Phase.STEPPING)
        self._check(self.native.get_outputs(values), "reading its outputs")

    def set_texts(self, values: Sequence[bytes]) -> None:
        """Set all bound String and Binary inputs; strings as UTF-8, arrays element by element."""
        self._expect(Phase.INITIALISING, Phase.STEPPING)
        self._check(self.native.set_texts(values), "setting its inputs")

    def get_texts(self) -> list[bytes]:
        """Read all bound String and Binary outputs."""
        self._expect(Phase.INITIALISING, Phase.STEPPING)
        status, values = self.native.get_texts()
        self._check(status, "reading its outputs")
        return values

    def do_step(self, time_ns: int, step_ns: int) -> StepResult:
        """Advance by one communication step with the inputs held."""
        self._expect(Phase.STEPPING)
        status = self.native.step(time_ns, step_ns)
        if status > 1:
            # FMI 2.0 lets a unit be asked for the time it reached only after a discarded step.
            last_ns = self.last_ns(time_ns) if status == _DISCARD else time_ns
            return StepResult(status, last_ns, self.native.failure)
        return StepResult(status, time_ns + step_ns)

    def get_state(self) -> object:
        """Save everything that the next step depends on."""
        self._expect(Phase.INITIALISING, Phase.STEPPING)
        if not self.description.capabilities.can_roll_back:
            raise self._cannot("save its state")
        with self._undisturbed("saving its state"):
            return self._get_state()

    def set_state(self, state: object) -> None:
        """Go back to a saved state, bit for bit."""
        self._expect(Phase.INITIALISING, Phase.STEPPING)
        with self._undisturbed("restoring a state"):
            self._set_state(state)

    def serialize(self, state: object) -> bytes:
        """Turn a saved state into bytes that another process can read."""
        if not self.description.capabilities.can_serialize:
            raise self._cannot("turn its state into bytes")
        try:
            with self._undisturbed("turning its state into bytes"):
                return self._serialize(state)
        except MemoryError:
            raise StepError(
                f"component '{self.name}' failed while turning its state into bytes: it says that"
                " they are more than the memory holds"
            ) from None

    def deserialize(self, data: bytes) -> object:
        """Make a state for :meth:`set_state` of what :meth:`serialize` returned."""
        self._expect(Phase.STEPPING)
        with self._undisturbed("reading a state from bytes"):
            return self._deserialize(data)

    def set_value(self, name: str, value: Value) -> None:
        """Set one input that is not bound, between two steps."""
        self._expect(Phase.STEPPING)
        with self._undisturbed("setting a value"):
            self._set_values({name: value})

    def value(self, name: str) -> Value | Floats:
        """Return the present value of any connector."""
        self._expect(Phase.STEPPING)
        with self._undisturbed("being read"):
            return self._value(self.description.connectors[name])

    def terminate(self) -> None:
        """End the unit; allowed at any time and more than once."""
        if self.phase is Phase.STEPPING:
            with self._undisturbed("terminating"):
                self._terminate()
        self.forward_log()
        self.phase = Phase.TERMINATED

    def last_ns(self, time_ns: int) -> int:
        """Return the time that the unit reached in a step from ``time_ns`` that failed."""
        return time_ns

    def forward_log(self) -> None:  # noqa: B027 - not every kind has a log
        """Pass messages that the unit wrote on to the logging of Python."""

    @property
    def logs_more(self) -> str:
        """How its messages for debugging are turned on, for the end of a sentence; may be empty."""
        return ""

    def last_message(self) -> str:
        """Return the last message that the unit wrote; empty if there is none."""
        return ""

    def exception(self) -> BaseException | None:
        """Return the Python exception that ended the last step, if there was one."""
        return None

    @property
    def remark(self) -> str:
        """What is wrong with what comes from outside at the moment, in words; empty: nothing."""
        return ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What whoever reads the results must know of this unit, in sentences."""
        if self.native.has_changed_mode:
            self.has_changed(["the floating-point mode in its steps"], (), "stepping")
        return tuple(changed_note(self.name, text, doing) for text, doing in self._changed.items())

    @property
    def pid(self) -> int:
        """Number of the process that leads its device, once it is set up; 0: it has none."""
        return 0

    def step_clock(self) -> StepClock | None:
        """Return the clock whose ticks a run can wait for; ``None``: it has none."""
        return None

    def notices(self) -> tuple[Notice, ...]:
        """Return what the unit warns of, and whether it went to a safe state, in its own name."""
        return ()

    @property
    def failure_reason(self) -> str:
        """Why the last call failed, in words of the unit; that it gave none, if it gave none."""
        return self.native.failure or f"the unit gave no reason{self.logs_more}"

    def _check(self, status: int, doing: str) -> None:
        if status > 1:
            self.forward_log()
            reason, error = self.failure_reason, self.exception()
            location = self.location_of(error)
            raise StepError(
                f"component '{self.name}' failed while {doing}: {reason}{location}"
            ) from error

    def location_of(self, error: BaseException | None) -> str:
        """Return where the code of the unit is, for an error that does not tell its own line."""
        return ""

    @abstractmethod
    def _set_values(self, values: Mapping[str, Value]) -> None: ...

    @abstractmethod
    def _bind(self) -> None: ...

    # What a kind has nothing to do at, it leaves as it is here.

    def _setup(self, start_ns: int, stop_ns: int | None) -> None: ...  # noqa: B027

    def _initialise_outputs(self, start_ns: int) -> None: ...  # noqa: B027

    def _exit_initialisation(self) -> None: ...  # noqa: B027

    def _begin_events(self) -> None:
        self._exit_initialisation()

    def _get_state(self) -> object:
        raise self._cannot("save its state")

    def _set_state(self, state: object) -> None:
        raise self._cannot("go back to a state")

    def _serialize(self, state: object) -> bytes:
        raise self._cannot("turn its state into bytes")

    def _deserialize(self, data: bytes) -> object:
        raise self._cannot("read a state from bytes")

    def _value(self, connector: Connector) -> Value | Floats:
        raise self._cannot(f"read '{connector.name}', which is neither connected nor recorded")

    def _cannot(self, action: str) -> CapabilityError:
        return CapabilityError(f"component '{self.name}' cannot {action}")

    def _terminate(self) -> None: ...  # noqa: B027
