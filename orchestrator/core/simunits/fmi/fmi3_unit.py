"""An FMI 3.0 Co-Simulation FMU: what it says of itself, its clocks, and the unit that steps it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from lxml import etree

from orchestrator.core.diagnostics import FmuError
from orchestrator.core.simunits.fmi.description_parts import TRUE, Interface, ModelDescription
from orchestrator.core.simunits.fmi.fmu_description import FmuDescription
from orchestrator.core.simunits.fmi.fmu_unit import USUAL_OPTIONS, FmuUnit, check_limits
from orchestrator.core.simunits.fmi.fmu_variable import (
    FmuVariable,
    Timer,
    TimerKind,
    connector_of,
    described_capabilities,
    described_feedthrough,
    unit_described,
    units_of,
)
from orchestrator.core.simunits.protocol import Notice, Phase, UnitDescription
from orchestrator.core.structs import replace
from orchestrator.core.system import (
    Causality,
    ComponentOptions,
    Connector,
    DataType,
    Value,
    Variability,
    seconds,
)
from orchestrator.engine import Fmu3

if TYPE_CHECKING:
    from orchestrator.core.simunits.protocol import Floats


class Fmu3Unit(FmuUnit):
    """Runs one instance by FMI 3.0.

    An FMU that has an event mode is run with it. Its structural parameters are set first, in
    configuration mode.

    name, fmu, options: See :class:`FmuUnit`.
    early_return: Whether it may end a step before its end, at an event.
    """

    native: Fmu3

    def __init__(
        self,
        name: str,
        fmu: FmuDescription,
        options: ComponentOptions = USUAL_OPTIONS,
        *,
        early_return: bool = False,
    ) -> None:
        can = fmu.description.capabilities
        self._early_return = early_return and can.has_event_mode and can.might_return_early
        super().__init__(name, fmu, options)

    def _load(self, name: str, folder: Path) -> Fmu3:
        fmu = self.fmu
        can = fmu.description.capabilities
        native = Fmu3(
            self._library,
            name,
            fmu.guid,
            f"{folder / 'resources'}/",
            self._logs,
            event_mode=can.has_event_mode,
            early_return=self._early_return,
            exchange=fmu.interface == "ModelExchange",
            followed=self._followed(),
        )
        native.declare(can.can_roll_back, can.has_directional_derivatives)
        return native

    def _followed(self) -> list[int]:
        """Continuous inputs that it takes within its steps, by reference."""
        can = self.fmu.description.capabilities
        if not can.input_order or self.fmu.interface != "CoSimulation":
            return []
        inputs = self.fmu.description.of(Causality.INPUT)
        return [v.reference for c in inputs if (v := self.fmu.variables[c.name]).is_followed]

    def notices(self) -> tuple[Notice, ...]:
        """Return that it did not take its inputs within a step, though it offers to."""
        if (time_ns := self.native.unasked_ns) is None:
            return ()
        text = (
            "the FMU offers intermediate update, but did not ask for its inputs within its step:"
            " they were held at their values at the begin"
        )
        advice = (
            "in delay mode 'waveform' its connections are then late by half a step; run it by Model"
            " Exchange, or the system in mode 'mean'"
        )
        return (Notice(time_ns, text, advice, component=self.name),)

    @property
    def notes(self) -> tuple[str, ...]:
        """Say whether it went elsewhere than its steps, in addition to the notes of all units."""
        if (early_return := self.native.astray) is None:
            return super().notes
        begin_ns, reported_s = early_return
        explanation = (
            f"component '{self.name}' ended the step from t = {seconds(begin_ns):.9g} s well and"
            f" without an early return, but said that it went to t = {reported_s:.9g} s"
            " (lastSuccessfulTime), not to the step's end: its outputs were taken for those of the"
            " end; ask the FMU's author"
        )
        return (*super().notes, explanation)

    def _set_values(self, values: Mapping[str, Value]) -> None:
        structural = {n: v for n, v in values.items() if self.fmu.variables[n].is_structural}
        if structural:
            self.fmu = self.fmu.shaped(values)
            self.description = self.fmu.description
            self._check(self.native.configure(enter=True), "entering configuration mode")
            self._set_all(structural)
            self._check(self.native.configure(enter=False), "leaving configuration mode")
        others = {name: value for name, value in values.items() if name not in structural}
        by_event = self.phase is Phase.STEPPING and any(
            self.native.has_event_mode and self.fmu.variables[name].is_discrete for name in others
        )
        if by_event:
            self._check(self.native.enter_event_mode(), "entering event mode")
        self._set_all(others)
        if by_event:
            self._check(self.native.settle(), "updating its discrete states")

    def _set_all(self, values: Mapping[str, Value]) -> None:
        for name, value in values.items():
            check_limits(self.name, name, self.fmu.variables[name], value)
            elements: Sequence[Any] = value if isinstance(value, tuple) else (value,)
            variable = self.fmu.variables[name]
            kind = self.description.connectors[name].type
            if kind is DataType.STRING:
                status = self.native.set_string(variable.reference, elements)
            elif kind is DataType.BINARY:
                status = self.native.set_binary(variable.reference, elements)
            elif kind is DataType.CLOCK:
                status = self.native.set_clock(variable.reference, bool(value))
            else:
                numbers = [float(v) for v in elements] if kind is DataType.REAL else list(elements)
                status = self.native.set(variable.type, variable.reference, numbers)
            self._check(status, f"setting '{name}' to {value!r}")

    def _bind(self) -> None:
        self.native.bind(list(map(self._port, self.inputs)), list(map(self._port, self.outputs)))
        timed = []  # clocks that no connection makes tick
        for connector in self.description.of(Causality.INPUT):
            variable = self.fmu.variables[connector.name]
            if variable.timer is not None and connector not in self.inputs:
                timed.append((variable.reference, *astuple(variable.timer)))
        self.native.drive(timed if self.native.has_event_mode else [])
        self._bind_texts()

    def _port(self, connector: Connector) -> tuple[str, str, int, int, bool, list[int]]:
        variable = self.fmu.variables[connector.name]
        return (
            connector.name,
            variable.type,
            variable.reference,
            connector.size,
            variable.is_discrete,
            list(variable.clocks),
        )

    def _setup(self, start_ns: int, stop_ns: int | None) -> None:
        stop = None if stop_ns is None else seconds(stop_ns)
        status = self.native.initialise(seconds(start_ns), stop, self.tolerance)
        self._check(status, "entering initialisation")

    def _exit_initialisation(self) -> None:
        self._begin_events()
        if self.native.has_event_mode:
            self._check(self.native.settle(), "updating its discrete states")

    def _begin_events(self) -> None:
        self._check(self.native.exit_initialization(), "exiting initialisation")

    def _value(self, connector: Connector) -> Value | Floats:
        variable = self.fmu.variables[connector.name]
        count = connector.size
        if connector.type is DataType.CLOCK:
            return False  # a clock ticks in event mode only
        with self._refusing(f"reading '{connector.name}'"):
            if connector.type is DataType.STRING:
                texts = tuple(self.native.get_string(variable.reference, count))
                return texts if connector.shape else texts[0]
            if connector.type is DataType.BINARY:
                data = tuple(self.native.get_binary(variable.reference, count))
                return data if connector.shape else data[0]
            numbers = self.native.get(variable.type, variable.reference, count)
        if connector.shape:
            return np.array(numbers, dtype=np.float64).reshape(connector.shape)
        value: Value = numbers[0]
        return value

    def last_ns(self, time_ns: int) -> int:
        """Return the time that the FMU reached (lastSuccessfulTime of fmi3DoStep)."""
        return max(self.native.reached[0], time_ns)


#: Longest interval and shift in seconds, and the greatest counter and resolution.
_LONGEST, _GREATEST = 1e9, 2**63 - 1


_KINDS = {"constant": TimerKind.FIXED, **{kind.name.lower(): kind for kind in TimerKind}}


def timers_of(root: etree._Element) -> dict[str, Timer]:
    """Return the time-based input clocks of a model description, by name."""
    timers = {}
    for element in root.findall("ModelVariables/Clock"):
        kind = _KINDS.get(element.get("intervalVariability", ""))
        if kind is not None and element.get("causality") == "input":
            timers[element.get("name", "")] = _timer(element, kind)
    return timers


def _timer(element: etree._Element, kind: TimerKind) -> Timer:
    fraction = element.get("supportsFraction") in TRUE
    counter = _number(element, "intervalCounter", 1)
    resolution = _number(element, "resolution", 1) if counter else 0
    if counter and not resolution:
        raise _interval_error(element, "resolution", "a whole number together with intervalCounter")
    return Timer(
        kind,
        fraction,
        0.0 if counter else _seconds(element, "intervalDecimal"),
        counter,
        resolution,
        0.0 if counter else _seconds(element, "shiftDecimal"),
        _number(element, "shiftCounter", 0) if counter else 0,
    )


def _number(element: etree._Element, name: str, minimum: int) -> int:
    text = element.get(name)
    if text is None:
        return 0
    if not text.strip().isdecimal() or not minimum <= int(text) <= _GREATEST:
        raise _interval_error(element, name, f"a whole number from {minimum} to 2**63 - 1")
    return int(text)


def _seconds(element: etree._Element, name: str) -> float:
    text = element.get(name)
    if text is None:
        return 0.0
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    is_shift = name.startswith("shift")
    if not isfinite(value) or value > _LONGEST or value < 0.0 or (value == 0.0 and not is_shift):
        lower_bound = "0 <=" if is_shift else "0 <"
        raise _interval_error(element, name, f"{lower_bound} seconds <= {_LONGEST:g}")
    return value


def _interval_error(element: etree._Element, name: str, expected: str) -> FmuError:
    return FmuError(
        f"modelDescription.xml: clock '{element.get('name')}': {name}: expected {expected}, found"
        f" {element.get(name)!r}; correct the FMU"
    )


def describe_fmi3(
    described: ModelDescription, root: etree._Element
) -> tuple[UnitDescription, dict[str, FmuVariable]]:
    """Turn a model description into ports, feed-through and capabilities."""
    connectors, variables = _variables(described, root)
    capabilities = described_capabilities(
        described, _input_order(described.coSimulation, connectors, variables)
    )
    if capabilities.has_event_mode:
        connectors = {
            name: replace(connector, variability=_variability(variables[name]))
            for name, connector in connectors.items()
        }
    feedthrough = described_feedthrough(described)
    for variable in described.modelVariables:
        if variable.alias is not None and variable.alias.name in feedthrough:
            feedthrough[variable.name] = feedthrough[variable.alias.name]
    known_feedthrough = {name: inputs for name, inputs in feedthrough.items() if name in connectors}
    return unit_described(described, connectors, known_feedthrough, capabilities), variables


def _variability(variable: FmuVariable) -> Variability:
    if variable.clocks:
        return Variability.CLOCKED
    return Variability.DISCRETE if variable.is_discrete else Variability.CONTINUOUS


def _input_order(
    interface: Interface | None,
    connectors: Mapping[str, Connector],
    variables: Mapping[str, FmuVariable],
) -> int:
    """Highest derivative of inputs that the engine follows by intermediate update.

    That is all of them or none: an input that cannot be set within the step would be held at its
    value at the begin of the step, and nothing would make up for that.
    """
    moving = [
        variables[name]
        for name, connector in connectors.items()
        if connector.causality is Causality.INPUT
        and connector.type is DataType.REAL
        and not variables[name].is_discrete
    ]
    takes_derivatives = interface is not None and interface.providesIntermediateUpdate
    return (
        3
        if takes_derivatives and moving and all(variable.is_followed for variable in moving)
        else 0
    )


def _variables(
    described: ModelDescription, root: etree._Element
) -> tuple[dict[str, Connector], dict[str, FmuVariable]]:
    texts = {
        element.get("name"): [start.get("value", "") for start in element.findall("Start")]
        for tag in ("String", "Binary")
        for element in root.findall(f"ModelVariables/{tag}")
    }
    timers = timers_of(root)
    followed = {
        element.get("name")
        for element in root.iterfind("ModelVariables/*")
        if element.get("intermediateUpdate") in TRUE
    }
    names = {v.valueReference: v.name for v in described.modelVariables if v.alias is None}
    connectors, variables = {}, {}
    units = units_of(described)
    for variable in described.modelVariables:
        if variable.alias is not None and variable.causality != Causality.OUTPUT:
            continue  # an input has one name: that of its own
        starts = texts.get(variable.name)
        if starts is None and variable.start is not None:
            starts = variable.start.split()
        if (connector := connector_of(variable, variable.shape, starts, units)) is None:
            continue
        connectors[connector.name] = connector
        variables[connector.name] = FmuVariable(
            variable.valueReference,
            "Int64" if variable.type == "Enumeration" else variable.type,
            tuple(
                d.start if d.start is not None else names[d.valueReference or 0]
                for d in variable.dimensions
            ),
            variable.variability != "continuous",
            tuple(clock.valueReference for clock in variable.clocks or ()),
            variable.causality == "structuralParameter",
            is_followed=variable.name in followed,
            timer=timers.get(variable.name),
        )
    return connectors, variables
