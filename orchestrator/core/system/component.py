"""Components, the named boxes of the drawing, and buses of signals that systems share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal

from orchestrator.core.diagnostics import DescriptionError, UnknownNameError, choices_for
from orchestrator.core.structs import Struct, field, replace
from orchestrator.core.system.naming import is_finite, is_whole, unknown_name_error
from orchestrator.core.system.ports import (
    Causality,
    Connector,
    DataType,
    PowerPort,
    Value,
    Variability,
    plain_value,
)
from orchestrator.core.system.source import Backend, Source
from orchestrator.core.system.time import nanoseconds


class OptionCodec(Struct):
    """How one option of a component is checked, and stands in files.

    ssp: Its attribute of ``sd:Unit`` in SSP; empty: SSP has an attribute of its own for it.
    kind: Type of the value; a time is seconds, or text.
    words: The words that may be chosen.
    is_optional: Whether ``None`` may be chosen, the default of the source.
    is_of_fmus: Whether it is for FMUs only.
    is_of_processes: Whether it is for units in a process of their own only.
    is_numerical: Whether the numbers of a run depend on it.
    """

    ssp: str
    kind: Literal["word", "name", "number", "count", "flag", "time"] = "word"
    words: tuple[str, ...] = ()
    is_optional: bool = True
    is_of_fmus: bool = False
    is_of_processes: bool = False
    is_numerical: bool = False


#: Codec of every option, in the order of the fields.
OPTIONS: Mapping[str, OptionCodec] = MappingProxyType(
    {
        "interface": OptionCodec("", words=("cs", "me"), is_of_fmus=True, is_numerical=True),
        "solver": OptionCodec(
            "solver", words=("dopri5", "cvode"), is_of_fmus=True, is_numerical=True
        ),
        "tolerance": OptionCodec("tolerance", "number", is_of_fmus=True, is_numerical=True),
        "backend": OptionCodec(
            "backend", words=("native", "fmpy", "pyfmi"), is_optional=False, is_numerical=True
        ),
        "isolation": OptionCodec("isolation", words=("none", "process")),
        "process": OptionCodec("process", "name", is_of_processes=True),
        "step_timeout": OptionCodec("stepTimeout", "time", is_optional=False, is_of_processes=True),
        "on_failure": OptionCodec(
            "onFailure",
            words=("stop", "hold", "restart"),
            is_optional=False,
            is_of_processes=True,
        ),
        "restarts": OptionCodec("restarts", "count", is_optional=False, is_of_processes=True),
        "debug": OptionCodec("debug", "flag", is_optional=False, is_of_fmus=True),
        "platform": OptionCodec("platform", words=("win64",), is_numerical=True),
    }
)
#: These are of FMUs.
FMU_OPTIONS = tuple(name for name, codec in OPTIONS.items() if codec.is_of_fmus)
#: These are of a unit in a process of its own.
PROCESS_OPTIONS = tuple(name for name, codec in OPTIONS.items() if codec.is_of_processes)


class ComponentOptions(Struct):
    """Options of one component: how it runs, not what it computes.

    Parameters
    ----------
    interface
        ``"cs"`` (Co-Simulation) or ``"me"`` (Model Exchange) of an FMU. Default: Co-Simulation if
        the FMU has it.
    solver
        Solver of a Model Exchange FMU: ``"dopri5"`` (default) or ``"cvode"``.
    tolerance
        Relative tolerance, above 0 and below 1, that an FMU of FMI 2.0 or 3.0 gets at its setup; of
        a Model Exchange FMU also the tolerance of its solver. Default: the tolerance of the FMU's
        DefaultExperiment; without one, 1e-6 for Model Exchange, and the FMU's own choice for
        Co-Simulation.
    debug
        Whether an FMU logs for debugging (``loggingOn``). The categories ``logStatusWarning``,
        ``logStatusDiscard``, ``logStatusError`` and ``logStatusFatal`` are on in any case where the
        FMU's description lists them; where it lists no others, all messages are. They go to the
        logger ``orchestrator.fmu.COMPONENT``.
    backend
        What executes the unit: ``"native"``, ``"fmpy"`` or ``"pyfmi"``.
    isolation
        ``"process"``: the unit runs in a process of its own; ``"none"``: in the process of the run.
        Default: in the process of the run if possible.
    process
        Name of a process that several components share. Default: each component has its own.
        Members that are stepped at the same point of the schedule are stepped in one round trip.
    step_timeout
        Longest duration of a call to the process, in seconds of wall time or text (``"500 ms"``);
        after it the unit counts as failed.
    on_failure
        Reaction to a failed process: ``"stop"`` ends the run; ``"hold"`` continues with the last
        outputs; ``"restart"`` continues in another process from a saved state.
    restarts
        Largest number of restarts, at least 1.
    platform
        ``"win64"``: the FMU's library for 64-bit Windows, which runs under Wine in a process of
        its own. Default: the library for this machine.

    Raises
    ------
    DescriptionError
        If a value is not allowed for its option.
    """

    interface: str | None = None
    solver: str | None = None
    tolerance: float | None = None
    backend: str = "native"
    isolation: str | None = None
    process: str | None = None
    step_timeout: str | float = 10.0
    on_failure: str = "stop"
    restarts: int = 1
    debug: bool = False
    platform: str | None = None

    def __post_init__(self) -> None:
        problems = [
            text
            for name, codec in OPTIONS.items()
            for text in _value_problems(f"option '{name}'", codec, getattr(self, name))
        ]
        if problems:
            raise DescriptionError(*problems)

    @property
    def runs_apart(self) -> bool:
        """Whether the unit runs in a process of its own."""
        isolation = self.isolation
        return isolation == "process" or (isolation is None and self.platform is not None)

    @property
    def step_timeout_ns(self) -> int:
        """How long a call may take, in nanoseconds of wall time."""
        return nanoseconds(self.step_timeout, "option 'step_timeout'")

    def changed(self, changes: Mapping[str, object]) -> ComponentOptions:
        """Return a copy with some options set.

        Raises
        ------
        UnknownNameError
            If there is no option of that name.
        DescriptionError
            If a value does not fit.
        """
        for option in changes:
            if option not in self.__struct_fields__:
                raise UnknownNameError(
                    f"no option '{option}' of a component"
                    f"{choices_for(option, self.__struct_fields__, 'option')}"
                )
        if all(getattr(self, option) is value for option, value in changes.items()):
            return self
        return replace(self, **changes)

    def numerical(self) -> dict[str, str]:
        """Say those of :meth:`differing_texts` on which the numbers of a run depend."""
        return {
            name: text
            for name, text in self.differing_texts().items()
            if OPTIONS[name].is_numerical
        }

    def differing_texts(self) -> dict[str, str]:
        """Say the options that differ from their defaults, as text by name."""
        if self == _USUAL:
            return {}
        return {name: str(value) for name, value in self.differing().items()}

    def differing(self) -> dict[str, Any]:
        """Return the options that differ from their defaults, by name."""
        values = ((name, getattr(self, name)) for name in OPTIONS)
        return {name: value for name, value in values if value != getattr(_USUAL, name)}


def _value_problems(label: str, codec: OptionCodec, value: Any) -> Iterator[str]:
    """Describe what is wrong with the value of an option."""
    if value is None and codec.is_optional:
        return
    match codec.kind:
        case "word":
            fits, expected = value in codec.words, f"one of {', '.join(codec.words)}"
        case "name":
            fits, expected = isinstance(value, str) and bool(value), "a name"
        case "number":
            fits = is_finite(value) and 0 < value < 1
            expected = "a number above 0 and below 1"
        case "count":
            fits, expected = is_whole(value) and value >= 1, "a whole number >= 1"
        case "flag":
            fits, expected = isinstance(value, bool), "true or false"
        case "time":
            try:
                fits, expected = nanoseconds(value, label) > 0, "more than 0 s"
            except DescriptionError as error:
                yield from error.problems
                return
    if not fits:
        yield f"{label}: expected {expected}, found {value!r}"


_USUAL = ComponentOptions()


#: Connectors of one causality that a prompt shows, and characters of a value.
_MOST_SHOWN, _LONGEST_VALUE = 12, 40


class Component(Struct):
    """One node of the system graph.

    Parameters
    ----------
    name
        Unique within the system.
    source
        Where its behaviour comes from.
    connectors
        Ports and parameters by name.
    feedthrough
        For every output, the inputs that it depends on without a state in between. An output
        that is missing here depends on all inputs.
    values
        Parameter values, and start values of inputs, by connector name.
    has_states
        Whether an output may also depend on inputs through a state. Without one, an output that
        depends at once on some inputs depends on no other.
    input_order
        Highest derivative of its Real inputs that it accepts within a step; 0: inputs are held.
    has_derivatives
        Whether it gives directional derivatives of its outputs.
    has_event_mode
        Whether its unit has an event mode that the engine can lead it through.
    options
        How the source is run, see :class:`ComponentOptions`.
    power_ports
        Power ports by name: connectors that are connected together.
    late_ns
        Delay of outputs in nanoseconds by name, as of a twin.
    """

    name: str
    source: Source
    connectors: Mapping[str, Connector] = field(default_factory=dict)
    feedthrough: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    values: Mapping[str, Value] = field(default_factory=dict)
    has_states: bool = True
    input_order: int = 0
    has_derivatives: bool = False
    has_event_mode: bool = False
    options: ComponentOptions = _USUAL
    power_ports: Mapping[str, PowerPort] = field(default_factory=dict)
    late_ns: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.name or "." in self.name:
            raise DescriptionError(
                f"component '{self.name}': a name must not be empty or contain a dot,"
                " the dot separates component and connector"
            )

    def __repr__(self) -> str:
        lines = [f"Component '{self.name}' ({self.source.short})"]
        for causality in (Causality.INPUT, Causality.OUTPUT, Causality.PARAMETER):
            texts = [self._text_of(connector) for connector in self.of(causality)]
            if texts:
                more = f" and {len(texts) - _MOST_SHOWN} more" if len(texts) > _MOST_SHOWN else ""
                lines.append(f"  {causality}s: {', '.join(texts[:_MOST_SHOWN])}{more}")
        return "\n".join(lines)

    def _text_of(self, connector: Connector) -> str:
        unit = f" [{connector.unit}]" if connector.unit else ""
        value = self.values.get(connector.name)
        text = "" if value is None else f" = {value!r}"
        return f"{connector.name}{unit}{text if len(text) <= _LONGEST_VALUE else ' = ..'}"

    @property
    def backend(self) -> Backend:
        """What runs it, if it is an FMU."""
        return Backend(self.options.backend)

    def of(self, causality: Causality) -> list[Connector]:
        """Return the connectors of one causality, in declared order."""
        return [c for c in self.connectors.values() if c.causality is causality]

    def connector(self, name: str) -> Connector:
        """Return a connector by name, or raise UnknownNameError that lists the valid names."""
        try:
            return self.connectors[name]
        except KeyError:
            holder = f"component '{self.name}' ({self.source})"
            raise unknown_name_error(holder, "connector", name, self.connectors) from None

    def frame_of(self, name: str) -> str | None:
        """Return the frame that a connector is given in: its own, or that of its power port."""
        if (port_frame := self.connectors[name].frame) is not None:
            return port_frame
        ports = (p.frame for p in self.power_ports.values() if name in p.connectors)
        return next((frame for frame in ports if frame is not None), None)

    def direct_inputs(self, output: str) -> tuple[str, ...]:
        """Inputs on which an output depends without a state in between."""
        inputs = self.feedthrough.get(output)
        return tuple(c.name for c in self.of(Causality.INPUT)) if inputs is None else inputs

    def passes(self, source: str, output: str) -> bool:
        """Whether an input acts on an output, at once or later."""
        direct = self.direct_inputs(output)
        return source in direct or self.has_states or not direct

    @property
    def shares_events(self) -> bool:
        """Whether it is led through event mode with others: in a process of its own it is not."""
        return self.has_event_mode and not self.options.runs_apart

    def changes_at_events(self, name: str) -> bool:
        """Whether a connector is a clock or a discrete number of a unit with event mode."""
        connector = self.connectors[name]
        if not self.shares_events or connector.type.is_text:
            return False
        is_clock = connector.type is DataType.CLOCK
        return is_clock or connector.variability is not Variability.CONTINUOUS

    def with_power_port(
        self,
        name: str,
        effort: str | tuple[str, ...],
        flow: str | tuple[str, ...],
        *,
        displacement: str | tuple[str, ...] = (),
        frame: str | None = None,
        positive: str | None = None,
    ) -> Component:
        """Declare connectors that are connected as one; see :class:`PowerPort`.

        Raises
        ------
        DescriptionError
            If the component has no such connector, or the port is described wrongly.
        """
        port = PowerPort.of(
            name, effort, flow, displacement=displacement, frame=frame, positive=positive
        )
        for connector_name in port.connectors:
            self.connector(connector_name)
        return replace(self, power_ports={**self.power_ports, name: port})

    def with_values(self, values: Mapping[str, Value]) -> Component:
        """Return a copy with some values set: numbers, lists, arrays, or items by name."""
        plain = {n: plain_value(v, self.connectors.get(n)) for n, v in values.items()}
        return replace(self, values={**self.values, **plain})


class Bus(Struct):
    """A place where a system reaches a signal dictionary (SSP: SignalDictionaryReference).

    Every entry of a dictionary is one signal: one connection writes it and any number read it, in
    whatever systems the dictionary is referred to.

    name: Unique within the system, among its components and nested systems.
    dictionary: Name of the dictionary.
    connectors: The entries by name.
    """

    name: str
    dictionary: str
    connectors: Mapping[str, Connector] = field(default_factory=dict)
