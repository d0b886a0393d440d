"""What can be read of a run at any time, and set in it from outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, wraps
from math import isfinite
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.core.master.run.assembly import Assembly
from orchestrator.core.master.run.recorder import Recording, RowRecorder
from orchestrator.core.master.run.run_loop import RunLoop
from orchestrator.core.master.schedule.events import EventStatistics
from orchestrator.core.master.schedule.schedule import Schedule
from orchestrator.core.simunits import Notice, SimulationUnit
from orchestrator.core.simunits.value_rules import beyond
from orchestrator.core.system import Causality, Connector, DataType, Endpoint, Value, seconds
from orchestrator.core.system.naming import listed_names
from orchestrator.core.system.ports import Limits, plain_value
from orchestrator.core.wings import of_wing
from orchestrator.engine import Engine

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from orchestrator.core.coupling import LineStatistics, Mark, Tuned
    from orchestrator.core.master.run.pacing import Pacing
    from orchestrator.core.realtime import RealTimeRecord

_Run = TypeVar("_Run", bound="RunView")
_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


def in_turn(
    method: Callable[Concatenate[_Run, _Given], _Result],
) -> Callable[Concatenate[_Run, _Given], _Result]:
    """Let one thread at a time call a method of a run, and none from within its steps.

    Another thread that calls it, or another such method, meanwhile gets a BusyError.
    """

    @wraps(method)
    def call(run: _Run, /, *args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
        with run._engine:  # noqa: SLF001 - a method of its class
            return method(run, *args, **kwargs)

    return call


class RunView:
    """Reads a run that a :class:`~.execution.Execution` steps; it changes nothing.

    Any thread can read the time. All else is read by one thread at a time, between two steps.
    """

    schedule: Schedule
    units: list[SimulationUnit]
    _made: Assembly
    _engine: Engine
    _recorder: RowRecorder
    _pacing: Pacing | None
    _loop: RunLoop

    @property
    def recorded_columns(self) -> int:
        """Number of scalar signals that are recorded."""
        return self._recorder.columns

    @property
    @in_turn
    def notes(self) -> tuple[str, ...]:
        """What happened to units and processes, in sentences."""
        events, timing = self.event_statistics(), self.timing
        late = (
            f"{events.late} foreseen events were handled at the communication point after them, up"
            f" to {events.latest_ns / 1e6:.6g} ms late: a component takes only equal steps, or"
            " several at once"
        )
        return (
            *self._made.notes,
            *self._made.fed.notes,
            *self._loop.notes,
            *(timing.notes if timing is not None else ()),
            *(self._times_under_wine(timing) if timing is not None else ()),
            *([late] if events.late else []),
            *(note for unit in self.units for note in unit.notes),
        )

    def _times_under_wine(self, timing: RealTimeRecord) -> Iterator[str]:
        """Yield what steps of Windows libraries took, next to the step that they had to fit in."""
        for name, component in self._made.system.components.items():
            if component.options.platform is not None and name in timing.units:
                taken_ns = timing.units[name].percentile_ns(99.9) or 0
                yield (
                    f"component '{name}': 99.9 % of its steps took at most {taken_ns / 1e3:.4g} us"
                    f" under Wine, of a communication step of {self.schedule.step_ns / 1e3:.6g} us"
                )

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What its schedule does wrong to its loops: growth off by a twentieth, or in its sign.

        It is worked out when it is asked for, with units that are made once more.
        """
        if self.schedule.varies:
            return ()
        way = self._made.settings.way | {"step": f"{self.schedule.step_ns} ns"}
        found: tuple[str, ...] = of_wing("loops.warnings")(self._made.given, **way)
        return found

    @property
    @in_turn
    def notices(self) -> tuple[Notice, ...]:
        """What units warn of, and which went to a safe state, in the order of time."""
        said = [notice for unit in self.units for notice in unit.notices()]
        return tuple(sorted(said, key=lambda notice: notice.time_ns))

    @property
    def tuned(self) -> tuple[Tuned, ...]:
        """What was changed while it ran."""
        from orchestrator.core.coupling import Tuned

        return tuple(one for one in self._events if isinstance(one, Tuned))

    @property
    def marks(self) -> tuple[Mark, ...]:
        """What was marked while it ran."""
        from orchestrator.core.coupling import Mark

        return tuple(one for one in self._events if isinstance(one, Mark))

    @property
    @in_turn
    def _events(self) -> tuple[Tuned | Mark, ...]:
        return () if self._loop.tuning is None else self._loop.tuning.events

    @property
    def wall_seconds(self) -> float:
        """Time that the stepping took so far, in seconds."""
        return self._loop.wall_seconds

    @property
    @in_turn
    def timing(self) -> RealTimeRecord | None:
        """How the steps kept to real time; ``None`` where they did not have to."""
        return None if self._pacing is None else self._pacing.record

    @property
    def time(self) -> float:
        """Current time in seconds; any thread may read it."""
        return seconds(self._engine.time_ns)

    @property
    def time_ns(self) -> int:
        """Current time in nanoseconds: what the run counts in; any thread may read it."""
        return self._engine.time_ns

    @in_turn
    def event_statistics(self) -> EventStatistics:
        """Return what event mode did so far: how often, and how late at most."""
        return EventStatistics(*self._engine.event_counts)

    @in_turn
    def line_statistics(self) -> dict[str, LineStatistics]:
        """Return what varying and slerped connections did so far, by connection."""
        from orchestrator.core.coupling import LineStatistics

        return {
            line: LineStatistics(*self._engine.line_facts(history))
            for line, history in self.schedule.watched.items()
        }

    @in_turn
    def recording(self) -> Recording:
        """Return everything recorded so far, also after a failed step.

        The last row is the time that was reached. Only where a step failed it is the last
        ``every``-th before: some units have done that step then and others have not.
        """
        return self._recorder.recording(latest=not self._loop.broken)

    @in_turn
    def recording_since(self, row: int) -> Recording:
        """Return what was recorded on the grid of ``every`` steps, without the first rows.

        Parameters
        ----------
        row
            Number of rows to leave out.
        """
        return self._recorder.recording(since=row)


if TYPE_CHECKING:
    PortValue = float | str | bytes | tuple[str, ...] | tuple[bytes, ...] | NDArray[np.float64]


class Ports:
    """Reads and sets connectors between two steps.

    made: What runs.
    """

    def __init__(self, made: Assembly) -> None:
        self._system = made.system
        self._slots = made.schedule.slots
        self._units = {unit.name: unit for unit in made.units}
        self._engine = made.engine
        self._sources = {line.target: line for line in made.system.connections}
        #: Limits that a user gives, by name.
        self.given: Mapping[str, Limits] = {}
        self._found: dict[str, tuple[Endpoint, Connector]] = {}

    def _connector(self, name: str) -> tuple[Endpoint, Connector]:
        found = self._found.get(name)
        if found is None:
            end = Endpoint.parse(name)
            connector = self._system.component(end.component).connector(end.connector)
            found = Endpoint(end.component, connector.name), connector
            self._found[name] = found
        return found

    def get(self, name: str) -> PortValue:
        """Return the present value of a connector; see :meth:`Execution.get`."""
        end, connector = self._connector(name)
        name = str(end)
        if name not in self._slots:
            return self._of_unit(end)
        slot, size = self._slots[name]
        values = self._engine.signals[slot : slot + size]
        if not connector.shape:
            return values[0]
        import numpy as np

        return np.array(values).reshape(connector.shape)

    def _of_unit(self, end: Endpoint) -> PortValue:
        """Return a value that is in no signal, as its unit says it."""
        import numpy as np

        value = self._units[end.component].value(end.connector)
        as_it_is = isinstance(value, (str, bytes, tuple, np.ndarray))
        return value if as_it_is else float(value)  # type: ignore[arg-type, return-value]

    def set(self, name: str, value: Any) -> None:
        """Set an input or a tunable parameter; see :meth:`Execution.set`."""
        self.put(name, self.accepted(name, value))

    def put(self, name: str, value: Value) -> None:
        """Set what was accepted."""
        end, _ = self._connector(name)
        self._units[end.component].set_value(end.connector, value)

    def connector(self, name: str) -> Connector:
        """Return a connector."""
        return self._connector(name)[1]

    def plain(self, name: str) -> Value:
        """Return the present value of a connector as what it can be set to."""
        end, connector = self._connector(name)
        value = plain_value(self._of_unit(end))
        if connector.type in {DataType.INTEGER, DataType.BOOLEAN} and not connector.shape:
            return bool(value) if connector.type is DataType.BOOLEAN else int(value)  # type: ignore[arg-type]
        return value

    def expect_real(self, name: str) -> None:
        """Expect a connector that can be led from one value to another."""
        connector = self._connector(name)[1]
        if connector.type is not DataType.REAL:
            raise CapabilityError(
                f"{name}: a ramp leads from one number to another: expected a Real, found"
                f" {connector.type}: set it at once"
            )

    def full_name(self, name: str) -> str:
        """Return the name of a connector as it is declared."""
        return str(self._connector(name)[0])

    def is_input(self, name: str) -> bool:
        """Whether a name is that of an input."""
        return self._connector(name)[1].causality is Causality.INPUT

    def accepted(self, name: str, value: Any) -> Value:
        """Return a value as its unit takes it, or say why it may not be set."""
        end, connector = self._connector(name)
        described = self._units[end.component].description
        if connector.causality in {Causality.PARAMETER, Causality.STRUCTURAL_PARAMETER}:
            if end.connector not in described.tunable:
                kind = described.variability.get(end.connector, "fixed")
                raise CapabilityError(
                    f"cannot set '{name}': it is a {kind} parameter, which keeps its value once the"
                    f" run has begun; {self._settable(end.component)}; set it in the system"
                )
        elif connector.causality is not Causality.INPUT:
            article = "an" if connector.causality[0] in "aeiou" else "a"
            raise CapabilityError(
                f"cannot set '{name}': it is {article} {connector.causality}, which only its unit"
                f" sets; {self._settable(end.component)}"
            )
        if (line := self._sources.get(end)) is not None:
            raise CapabilityError(
                f"cannot set '{name}': the connection {line} sets it in every step and would"
                " overwrite the value; leave that connection out to set the input from outside"
            )
        plain = _checked(name, connector, value)
        for limits in self.limits(str(end)):
            if (why := beyond(connector, limits, plain)) is not None:
                raise DescriptionError(f"{name}: {why}, beyond its limits")
        if connector.enumeration is not None and (why := connector.refusal(plain)) is not None:
            raise DescriptionError(f"{name}: {why}")
        return plain

    def limits(self, name: str) -> list[Limits]:
        """Return the ranges of a connector: what its unit declares, and what a user gives."""
        end, _ = self._connector(name)
        declared = self._units[end.component].description.ranges.get(end.connector)
        return [one for one in (declared, self.given.get(name)) if one is not None]

    def tunable(self) -> Iterator[str]:
        """Yield what can be set: inputs that nothing is connected to, and tunable parameters."""
        for name in self._system.components:
            yield from (f"{name}.{one}" for one in self._free(name))

    def _free(self, component: str) -> list[str]:
        described = self._units[component].description
        inputs = [c.name for c in self._system.components[component].of(Causality.INPUT)]
        free = [name for name in inputs if Endpoint(component, name) not in self._sources]
        return [*free, *(name for name in described.connectors if name in described.tunable)]

    def _settable(self, component: str) -> str:
        free = listed_names(self._free(component), "") if self._free(component) else "none"
        return f"inputs and tunable parameters of '{component}' that can be set: {free}"


def _checked(name: str, connector: Connector, value: Any) -> Value:
    """Return the value as the units take it, or say what was expected."""
    plain, is_real = plain_value(value, connector), connector.type is DataType.REAL
    is_fit = connector.accepts(plain)
    if is_fit and is_real:
        numbers: Any = plain if isinstance(plain, tuple) else (plain,)
        try:
            is_fit = all(map(isfinite, numbers))
        except OverflowError:  # a whole number beyond all floats
            is_fit = False
    if is_fit:
        return plain
    shape = f" of shape {connector.shape}" if connector.shape else ""
    finite = "finite " if is_real else ""
    raise DescriptionError(f"{name}: expected {finite}{connector.type}{shape}, found {value!r}")
