"""A unit in another process."""

from __future__ import annotations

import contextlib
import logging
import time
import weakref
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import CapabilityError, SoftdockError, StepError
from orchestrator.core.simunits.isolation.wire import Interruption
from orchestrator.core.simunits.isolation.worker_process import RemoteTraceback, WorkerProcess
from orchestrator.core.simunits.protocol import Notice, Phase, SimulationUnit, UnitDescription
from orchestrator.core.structs import replace
from orchestrator.core.system import Component, Connector, Value
from orchestrator.engine import RemoteUnit

if TYPE_CHECKING:
    from orchestrator.core.simunits.protocol import Floats


class RemoteState:
    """Stands for a state in a process."""

    def __init__(self, process: int, number: int) -> None:
        self.process = process
        self.number = number


class RemoteStates:
    """The states that lie in one process; states without a holder can be freed there.

    name: The component's name, for messages.
    process: Number of the process.
    """

    def __init__(self, name: str, process: int) -> None:
        self._name = name
        self._process = process
        self._dropped: list[int] = []

    def add(self, number: int) -> RemoteState:
        """Return what stands for the state of a number."""
        state = RemoteState(self._process, number)
        weakref.finalize(state, self._dropped.append, number).atexit = False
        return state

    def number(self, state: object, *, alive: bool) -> int:
        """Return a state's number in a process that may be alive or not."""
        if not isinstance(state, RemoteState):
            raise TypeError(f"expected a state of this unit, found {type(state).__name__}")
        if state.process != self._process or not alive:
            raise StepError(
                f"component '{self._name}': the state was saved in a process that has ended; use"
                " the stored() copy of a checkpoint"
            )
        return state.number

    def take_dropped(self) -> list[int]:
        """Return the numbers of states that nobody holds, once."""
        dropped = self._dropped[:]
        del self._dropped[: len(dropped)]
        return dropped


_LOG = logging.getLogger(__name__)
#: Steps between two states that are kept for a restart.
_KEEP_EVERY = 100
#: Wall seconds between two questions for messages while a run goes on.
_LOG_SECONDS = 0.2
_NOTHING: Mapping[str, Any] = {}


class WorkerUnit(SimulationUnit):
    """Runs a component in another process.

    component: What to run, with its options.
    description: What the unit says of itself; its capabilities are those of the unit that was made.
    process: Where it runs.
    Raises StepError: if the unit cannot be made in it.
    Raises CapabilityError: if the unit shall restart and cannot turn its state into bytes.
    """

    native: RemoteUnit
    shares_process = False

    def __init__(
        self, component: Component, description: UnitDescription, process: WorkerProcess
    ) -> None:
        self._options = component.options
        self._process = process
        signals = sum(connector.size for connector in description.connectors.values())
        self.native = process.enter(component.name, signals, self._options.step_timeout_ns)
        # what makes it what it is at its first step, so that another process gets it, too
        self._made = {"component": _plain(component)}
        self._bound: Mapping[str, Any] = {}
        self._times: Mapping[str, Any] = {}
        self._first_inputs: Floats | None = None
        try:
            can, _ = self._call("being made", "make", self._made)
        except BaseException:
            process.leave(self.native, at_once=True)
            raise
        description = replace(description, capabilities=can)
        super().__init__(component.name, description, self.native)
        self._states = RemoteStates(component.name, self.pid)
        self._kept = b""
        self._left = self._options.restarts
        self._notes: list[str] = []
        self._remote_notes: list[str] = []
        self._asked = 0.0
        if self._options.on_failure == "restart" and not can.can_serialize:
            process.leave(self.native)
            raise CapabilityError(
                f"component '{self.name}': on_failure 'restart' needs a unit that can turn its"
                " state into bytes (canSerializeFMUstate is not true); choose 'stop' or 'hold'"
            )

    def _call(
        self, doing: str, operation: str, arguments: Mapping[str, Any] = _NOTHING, data: bytes = b""
    ) -> tuple[Any, bytes]:
        return self._process.call(self.native, doing, operation, arguments, data)

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    @property
    def notes(self) -> tuple[str, ...]:
        """What happened to the process, in sentences."""
        self._ask_notes()
        if self.native.held is None:
            return (*self._notes, *self._remote_notes)
        ns, reason = self.native.held
        held = f"component '{self.name}' failed in the step from t = {ns / 1e9:.9g} s ({reason});"
        held += " its outputs are held from there on"
        return (*self._notes, *self._remote_notes, held)

    def _ask_notes(self) -> None:
        """Ask what was put back for the others, where the process has any."""
        is_there = not self.native.lost and self.native.held is None
        if self._process.shared and is_there and self.phase is Phase.STEPPING:
            with contextlib.suppress(SoftdockError):  # the next step says what happened to it
                self._remote_notes, _ = self._call("saying what it changed", "notes")

    def _set_values(self, values: Mapping[str, Value]) -> None:
        if self.phase is not Phase.STEPPING:
            self._call("setting values", "set_values", {"values": dict(values)})
            return
        if self.native.held is not None:
            return  # it acts on nothing any more, and the notes say so
        for name, value in values.items():
            self._call(f"setting '{name}'", "set_value", {"name": name, "value": value})
        self._keep_anew()

    def _bind(self) -> None:
        if texts := [c.name for c in (*self.text_inputs, *self.text_outputs)]:
            raise CapabilityError(
                f"component '{self.name}': {', '.join(map(repr, texts))}: Strings and Binaries are"
                " not carried into a process of its own; run it without isolation, or leave these"
                " connections out"
            )
        names = {"inputs": [c.name for c in self.inputs], "outputs": [c.name for c in self.outputs]}
        self._bound = names
        can, _ = self._call("being connected", "bind", names)
        self.native.declare(*can)
        self.native.bind(sum(c.size for c in self.inputs), sum(c.size for c in self.outputs))

    def _setup(self, start_ns: int, stop_ns: int | None) -> None:
        self._times = {"start_ns": start_ns, "stop_ns": stop_ns}
        self._call("setting up", "setup", self._times)

    def _initialise_outputs(self, start_ns: int) -> None:
        self._call("initialising", "initialise_outputs", {"start_ns": start_ns})

    def set(self, values: NDArray[np.float64] | memoryview[float]) -> None:
        """Set all bound inputs from a contiguous float64 array of shape (n_inputs,)."""
        super().set(values)
        self._first_inputs = np.array(values)
        self._check(self.native.flush(), "setting its inputs")

    def _exit_initialisation(self) -> None:
        self._call("exiting initialisation", "exit_initialisation")
        if self._options.on_failure == "hold":
            self.native.hold_on_failure()
        if self._options.on_failure == "restart":
            reference = weakref.ref(self)

            def help_(request: int) -> int:
                unit = reference()
                return 0 if unit is None else unit.help(request)

            self._keep()
            self.native.restart_on_failure(help_, _KEEP_EVERY)

    def help(self, request: int) -> int:
        """Do for the native unit what only its parent can."""
        with Interruption(raise_after=False) as interruption:
            try:
                done = self._restart() if request else self._keep()
            except SoftdockError as error:
                self.native.lose(str(error))
                done = False
        return int(done) + 2 * interruption.seen

    def _keep(self) -> bool:
        _, self._kept = self._call("saving its state", "save")
        return True

    def _keep_anew(self) -> None:
        """The steps since the kept state no longer lead to the present one."""
        if self._options.on_failure == "restart":
            self._keep()
            self.native.kept()

    def _restart(self) -> bool:
        if self._left == 0:
            return False
        self._left -= 1
        reason = self.native.failure
        self._process.restart()
        self._states = RemoteStates(self.name, self.pid)
        self._call("being made", "make", self._made)
        self._call("being connected", "bind", self._bound)
        self._call("setting up", "setup", self._times)
        if self._first_inputs is not None:
            self._check(self.native.set_inputs(self._first_inputs), "setting its inputs")
        self._call("exiting initialisation", "exit_initialisation")
        self._call("restoring a state", "resume", data=self._kept)
        note = (
            f"component '{self.name}' failed ({reason}) and was started again from a saved state,"
            f" restarts left: {self._left}"
        )
        self._notes.append(note)
        _LOG.warning("%s", note)
        return True

    def _expect_alive(self) -> None:
        if self.native.held is not None:
            raise StepError(
                f"component '{self.name}' has failed and is held: it has no state any more"
            )

    def _number(self, state: object) -> int:
        return self._states.number(state, alive=not self.native.lost)

    def _get_state(self) -> object:
        self._expect_alive()
        if dropped := self._states.take_dropped():
            self._call("freeing states", "drop_states", {"states": dropped})
        number, _ = self._call("saving its state", "get_state")
        return self._states.add(number)

    def _set_state(self, state: object) -> None:
        self._expect_alive()
        self._call("restoring a state", "set_state", {"state": self._number(state)})
        self._keep_anew()
        if self._options.on_failure == "hold":  # what is held belongs to this moment
            self.get(np.empty(sum(c.size for c in self.outputs)))

    def _serialize(self, state: object) -> bytes:
        number = self._number(state)
        return self._call("turning its state into bytes", "serialize", {"state": number})[1]

    def _deserialize(self, data: bytes) -> object:
        self._expect_alive()
        number, _ = self._call("reading its state from bytes", "deserialize", data=data)
        return self._states.add(number)

    def _value(self, connector: Connector) -> Value | NDArray[np.float64]:
        value: Value | NDArray[np.float64]
        value, _ = self._call(f"reading '{connector.name}'", "value", {"name": connector.name})
        return value

    def notices(self) -> tuple[Notice, ...]:
        """Return what the unit in the process says of the run so far."""
        if self.native.lost or self.native.held is not None or self.phase is not Phase.STEPPING:
            return ()
        try:
            return tuple(self._call("saying what it noticed", "notices")[0])
        except SoftdockError as error:  # what was recorded is worth more than what it says of it
            self._notes.append(str(error))
            return ()

    def last_ns(self, time_ns: int) -> int:
        """Return the time that the unit reached in a step from ``time_ns`` that failed."""
        return int(self._call("saying the time it reached", "last_ns", {"time_ns": time_ns})[0])

    def exception(self) -> BaseException | None:
        """Return the traceback of the exception that ended the last step, if there was one."""
        if self.native.lost:
            return None
        try:
            trace, _ = self._call("saying why it failed", "exception")
        except SoftdockError:  # that it failed is known already, and is the news
            return None
        return RemoteTraceback(trace) if trace else None

    def last_message(self) -> str:
        """Return the last message that the unit in the process wrote."""
        return str(self._call("saying its last message", "last_message")[0])

    def forward_log(self) -> None:
        """Fetch the messages of the worker, a few times a second."""
        if self.native.lost or time.monotonic() - self._asked < _LOG_SECONDS:
            return
        self._asked = time.monotonic()
        with contextlib.suppress(StepError):  # the next step says what happened to the process
            self._call("forwarding its messages", "forward_log")

    def _terminate(self) -> None:
        if self.native.lost:
            return
        try:
            self._call("terminating", "terminate")
        except SoftdockError as error:
            _LOG.error("%s; the results are whole", str(error))

    def terminate(self) -> None:
        """End the unit and its process; allowed at any time and more than once."""
        self._ask_notes()
        super().terminate()
        self._process.leave(self.native)


def _plain(component: Component) -> dict[str, Any]:
    """Return a component as plain data; in the process it runs without isolation."""
    options = replace(component.options, isolation="none", process=None, on_failure="stop")
    return {
        "name": component.name,
        "kind": str(component.source.kind),
        "location": component.source.location,
        "values": dict(component.values),
        "options": asdict(options),
    }
