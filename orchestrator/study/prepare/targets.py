"""What a sweep can change of a case: parameters, delays, the step, figures of faults, options."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from pydantic import ValidationError

from orchestrator.core.diagnostics import DescriptionError, UnknownNameError
from orchestrator.core.system import (
    Connection,
    Connector,
    DataType,
    Endpoint,
    System,
    TransportDelay,
    Value,
    nanoseconds,
    nearest,
)
from orchestrator.core.system.time import step_length
from orchestrator.core.system.units.unit import defined_conversion
from orchestrator.study.experiment import FaultTable
from orchestrator.study.figure_tables import FAULT_TIMES
from orchestrator.study.prepare.prepare import set_value
from orchestrator.study.prepare.prepared_case import PreparedCase

#: A value as a file gives it; a time is seconds or text.
Given = bool | float | str
#: Figures of a fault in the unit of the output.
_IN_UNIT = ("value", "sigma")


class Target(Protocol):
    """One thing to change; ``scale``: by a factor of what the case has."""

    @property
    def is_time(self) -> bool:
        """Whether its values are times."""
        ...

    def reaches(self, case: PreparedCase) -> bool:
        """Whether the case has it."""
        ...

    def changed(self, case: PreparedCase, value: Given) -> PreparedCase:
        """Change it."""
        ...


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter or held input, ``component.name``, with numbers in ``unit`` if that is given."""

    path: str
    unit: str | None = None
    scale: bool = False
    is_time: bool = False

    def reaches(self, case: PreparedCase) -> bool:
        """Whether the system has this connector."""
        return self._connector(case) is not None

    def changed(self, case: PreparedCase, value: Given) -> PreparedCase:
        """Set or multiply the value."""
        if self.scale:
            return self.multiplied(case, value)
        own = self._connector(case)
        if own is not None and isinstance(value, float | int) and type(value) is not bool:
            value = _converted(value, self.unit, own)
            if own.type is DataType.INTEGER and float(value).is_integer():
                value = int(value)
        return replace(case, system=set_value(case.system, self.path, value))

    def multiplied(self, case: PreparedCase, factor: Given) -> PreparedCase:
        """Multiply the value that the case has, element by element."""
        own = case.system.value(self.path)
        try:
            new = _product(own, _number(factor))
        except TypeError:
            raise DescriptionError(
                f"{self.path}: expected a number to scale, found {own!r}"
            ) from None
        return replace(case, system=case.system.set(self.path, new))

    def _connector(self, case: PreparedCase) -> Connector | None:
        """Return the connector of a component, or of the system itself."""
        system = case.system
        if "." not in self.path:
            return system.connectors.get(self.path)
        end = Endpoint.parse(self.path)
        component = system.components.get(end.component)
        return None if component is None else component.connectors.get(end.connector)


@dataclass(frozen=True, slots=True)
class Step:
    """The communication step."""

    scale: bool = False
    is_time: bool = True

    def reaches(self, case: PreparedCase) -> bool:
        """Every case has one."""
        return True

    def changed(self, case: PreparedCase, value: Given) -> PreparedCase:
        """Set or multiply it."""
        step = _time(value, "step")
        if self.scale:
            own = case.options.step
            own_ns = case.system.experiment.step_ns if own is None else step_length(own, "step")
            if own_ns is None:
                raise DescriptionError("step: the case has none that could be scaled")
            step = f"{round(own_ns * _number(value))} ns"
        step_length(step, "step")
        return replace(case, options=case.options.model_copy(update={"step": step}))


@dataclass(frozen=True, slots=True)
class Delay:
    """The nominal delay of a connection, ``"a.out -> b.in"``; what varies about it stays."""

    line: str
    scale: bool = False
    is_time: bool = True

    def reaches(self, case: PreparedCase) -> bool:
        """Whether the system has this connection."""
        return self._found(case) is not None

    def changed(self, case: PreparedCase, value: Given) -> PreparedCase:
        """Set or multiply it."""
        line = self._found(case)
        if line is None:
            raise UnknownNameError(f"no connection '{self.line}'")
        own_ns = line.delay.nominal_ns if line.delay else 0
        if self.scale:
            new_ns = round(own_ns * _number(value))
        else:
            new_ns = nanoseconds(_time(value, "delay"))
        delay = replace(line.delay or TransportDelay(0), nominal_ns=new_ns)
        source, target = str(line.source), str(line.target)
        return replace(case, system=case.system.with_delay(source, target, delay))

    def _found(self, case: PreparedCase) -> Connection | None:
        source, arrow, target = (part.strip() for part in self.line.partition("->"))
        if not (source and arrow and target):
            raise DescriptionError(f"delay: expected 'a.out -> b.in', found '{self.line}'")
        ends = (source, target)
        lines = case.system.connections
        return next((c for c in lines if (str(c.source), str(c.target)) == ends), None)


@dataclass(frozen=True, slots=True)
class FaultFigure:
    """A figure of a fault of the case, ``label.figure``."""

    path: str
    unit: str | None = None
    scale: bool = False

    @property
    def is_time(self) -> bool:
        """Whether it is when the fault acts, or a delay."""
        return self.path.partition(".")[2] in FAULT_TIMES

    def reaches(self, case: PreparedCase) -> bool:
        """Whether the case has a fault of this label."""
        return self.path.partition(".")[0] in case.case.fault

    def changed(self, case: PreparedCase, value: Given) -> PreparedCase:
        """Set or multiply it."""
        label, _, figure = self.path.partition(".")
        names = [field.alias or name for name, field in FaultTable.model_fields.items()]
        if figure not in names:
            raise UnknownNameError(
                f"fault.{label}: no '{figure}' to sweep{nearest(figure, names)};"
                f" known: {', '.join(names)}"
            )
        table = case.case.fault[label]
        given = table.model_dump(by_alias=True, exclude_none=True)
        if self.scale:
            if figure not in given or isinstance(given[figure], str):
                raise DescriptionError(f"fault.{label}: has no number '{figure}' to scale")
            changed: object = _product(given[figure], _number(value))
        elif self.unit is not None and figure in ("rate", "factor"):
            raise DescriptionError(
                f"fault.{label}.{figure}: expected no unit, which is not converted here, found"
                f" '{self.unit}'"
            )
        elif self.unit is not None and figure in _IN_UNIT and not isinstance(value, str):
            changed = _converted(value, self.unit, _faulty(table, case.system))
        else:
            changed = value
        try:
            new = FaultTable.model_validate({**given, figure: changed})
        except ValidationError:
            raise DescriptionError(f"fault.{label}.{figure}: {value!r} does not fit") from None
        faults = {**case.case.fault, label: new}
        return replace(case, case=case.case.model_copy(update={"fault": faults}))


@dataclass(frozen=True, slots=True)
class Option:
    """An option of the algorithm."""

    key: str
    is_time: bool = False

    def reaches(self, case: PreparedCase) -> bool:
        """Every case has an algorithm."""
        return True

    def changed(self, case: PreparedCase, value: Given) -> PreparedCase:
        """Set it."""
        options = {**(case.options.algorithm_options or {}), self.key: value}
        changed = case.options.model_copy(update={"algorithm_options": options})
        return replace(case, options=changed)


@dataclass(frozen=True, slots=True)
class Rate:
    """How many communication steps a component takes at once."""

    component: str
    is_time: bool = False

    def reaches(self, case: PreparedCase) -> bool:
        """Whether the system has the component."""
        return self.component in case.system.components

    def changed(self, case: PreparedCase, value: Given) -> PreparedCase:
        """Set it."""
        number = _number(value)
        if number != int(number):
            raise DescriptionError(f"rate of '{self.component}': expected a whole number")
        rates = {**(case.options.rates or {}), self.component: int(number)}
        return replace(case, options=case.options.model_copy(update={"rates": rates}))


def _time(value: Given, what: str) -> float | str:
    if isinstance(value, bool):
        raise DescriptionError(f"{what}: expected a time, found {value!r}")
    return value


def _number(value: Given) -> float:
    if isinstance(value, bool | str):
        raise DescriptionError(f"expected a number, found {value!r}")
    return float(value)


def _product(own: Value, factor: float) -> Value:
    if isinstance(own, bool | str | bytes):
        raise TypeError
    if isinstance(own, int | float):
        return own * factor
    return tuple(float(element) * factor for element in own)


def _converted(value: float, unit: str | None, own: Connector | None) -> float:
    if own is None:
        return value
    factor, offset = defined_conversion(unit, None, own.unit, own.unit_definition)
    return value if (factor, offset) == (1.0, 0.0) else factor * value + offset


def _faulty(table: FaultTable, system: System) -> Connector | None:
    """Output on which a fault is."""
    place = table.on if isinstance(table.on, str) else table.on[0]
    end = Endpoint.parse(place.partition("->")[0].strip())
    component = system.components.get(end.component)
    return component.connector(end.connector) if component else None
