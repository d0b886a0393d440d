"""What a sweep can change of a case: parameters, delays, the step, figures of faults, options."""

from __future__ import annotations

from pydantic import ValidationError

from orchestrator.core.diagnostics import DescriptionError, UnknownNameError, choices_for
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import (
    Connection,
    Connector,
    DataType,
    Endpoint,
    System,
    TransportDelay,
    Value,
    nanoseconds,
)
from orchestrator.core.system.time import step_length
from orchestrator.core.units.conversion import defined_conversion
from orchestrator.study.experiment import FaultTable
from orchestrator.study.figure_tables import FAULT_TIMES
from orchestrator.study.prepare.prepare import set_value
from orchestrator.study.prepare.prepared_case import PreparedCase

#: A value as a file gives it; a time is seconds or text.
Given = bool | float | str
#: Figures of a fault in the unit of the output.
_IN_UNIT = ("value", "sigma")


class Target(Struct):
    """One thing to change, by its name in the file.

    unit: Of numbers.
    scale: Whether it is changed by a factor of what the case has.
    """

    name: str
    unit: str | None = None
    scale: bool = False

    @property
    def is_time(self) -> bool:
        """Whether its values are times."""
        return False

    def reaches(self, case: PreparedCase) -> bool:
        """Whether the case has it."""
        return True

    def changed(self, case: PreparedCase, value: Given) -> PreparedCase:
        """Set or multiply it."""
        raise NotImplementedError


class Parameter(Target):
    """A parameter or held input, ``component.name``, or one of the system itself."""

    def reaches(self, case: PreparedCase) -> bool:
        """Whether the system has this connector."""
        return self._connector(case) is not None

    def changed(self, case: PreparedCase, value: Given) -> PreparedCase:
        """Set the value, or multiply that of the case element by element."""
        if self.scale:
            value_before = case.system.value(self.name)
            try:
                new = _product(value_before, _number(value))
            except TypeError:
                raise DescriptionError(
                    f"{self.name}: expected a number to scale, found {value_before!r}"
                ) from None
            return replace(case, system=case.system.set(self.name, new))
        connector = self._connector(case)
        if connector is not None and isinstance(value, float | int) and type(value) is not bool:
            value = _converted(value, self.unit, connector)
            if connector.type is DataType.INTEGER and float(value).is_integer():
                value = int(value)
        return replace(case, system=set_value(case.system, self.name, value))

    def _connector(self, case: PreparedCase) -> Connector | None:
        system = case.system
        if "." not in self.name:
            return system.connectors.get(self.name)
        end = Endpoint.parse(self.name)
        component = system.components.get(end.component)
        return None if component is None else component.connectors.get(end.connector)


class Step(Target):
    """The communication step."""

    @property
    def is_time(self) -> bool:
        """It is one."""
        return True

    def changed(self, case: PreparedCase, value: Given) -> PreparedCase:
        """Set or multiply it."""
        step = _time(value, "step")
        if self.scale:
            step_before = case.options.step
            own_ns = (
                case.system.experiment.step_ns
                if step_before is None
                else step_length(step_before, "step")
            )
            if own_ns is None:
                raise DescriptionError("step: the case has no step that could be scaled")
            step = f"{round(own_ns * _number(value))} ns"
        step_length(step, "step")
        return case.with_options(step=step)


class Delay(Target):
    """The nominal delay of a connection, ``"a.out -> b.in"``; what varies about it stays."""

    @property
    def is_time(self) -> bool:
        """It is one."""
        return True

    def reaches(self, case: PreparedCase) -> bool:
        """Whether the system has this connection."""
        return self._connection(case) is not None

    def changed(self, case: PreparedCase, value: Given) -> PreparedCase:
        """Set or multiply it."""
        line = self._connection(case)
        if line is None:
            raise UnknownNameError(f"no connection '{self.name}'")
        own_ns = line.delay.nominal_ns if line.delay else 0
        if self.scale:
            new_ns = round(own_ns * _number(value))
        else:
            new_ns = nanoseconds(_time(value, "delay"))
        delay = replace(line.delay or TransportDelay(0), nominal_ns=new_ns)
        source, target = str(line.source), str(line.target)
        return replace(case, system=case.system.with_delay(source, target, delay))

    def _connection(self, case: PreparedCase) -> Connection | None:
        source, arrow, target = (part.strip() for part in self.name.partition("->"))
        if not (source and arrow and target):
            raise DescriptionError(f"delay: expected 'a.out -> b.in', found '{self.name}'")
        lines = case.system.connections
        return next((c for c in lines if (str(c.source), str(c.target)) == (source, target)), None)


class FaultFigure(Target):
    """A figure of a fault of the case, ``label.figure``."""

    @property
    def is_time(self) -> bool:
        """Whether it is when the fault acts, or a delay."""
        return self.name.partition(".")[2] in FAULT_TIMES

    def reaches(self, case: PreparedCase) -> bool:
        """Whether the case has a fault of this label."""
        return self.name.partition(".")[0] in case.case.fault

    def changed(self, case: PreparedCase, value: Given) -> PreparedCase:
        """Set or multiply it."""
        label, _, figure = self.name.partition(".")
        names = [field.alias or name for name, field in FaultTable.model_fields.items()]
        if figure not in names:
            raise UnknownNameError(
                f"fault.{label}: no key '{figure}' to sweep{choices_for(figure, names, 'key')}"
            )
        table = case.case.fault[label]
        settings = table.model_dump(by_alias=True, exclude_none=True)
        if self.scale:
            if figure not in settings or isinstance(settings[figure], str):
                raise DescriptionError(f"fault.{label}: has no number '{figure}' to scale")
            changed: object = _product(settings[figure], _number(value))
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
            new = FaultTable.model_validate({**settings, figure: changed})
        except ValidationError:
            raise DescriptionError(f"fault.{label}.{figure}: {value!r} does not fit") from None
        faults = {**case.case.fault, label: new}
        return replace(case, case=case.case.model_copy(update={"fault": faults}))


class Option(Target):
    """An option of the algorithm."""

    def changed(self, case: PreparedCase, value: Given) -> PreparedCase:
        """Set it."""
        options = {**(case.options.algorithm_options or {}), self.name: value}
        return case.with_options(algorithm_options=options)


class Rate(Target):
    """How many communication steps a component takes at once."""

    def reaches(self, case: PreparedCase) -> bool:
        """Whether the system has the component."""
        return self.name in case.system.components

    def changed(self, case: PreparedCase, value: Given) -> PreparedCase:
        """Set it."""
        number = _number(value)
        if number != int(number):
            raise DescriptionError(f"rate of '{self.name}': expected a whole number")
        return case.with_options(rates={**(case.options.rates or {}), self.name: int(number)})


def _time(value: Given, role: str) -> float | str:
    if isinstance(value, bool):
        raise DescriptionError(f"{role}: expected a time, found {value!r}")
    return value


def _number(value: Given) -> float:
    if isinstance(value, bool | str):
        raise DescriptionError(f"expected a number, found {value!r}")
    return float(value)


def _product(value: Value, factor: float) -> Value:
    if isinstance(value, bool | str | bytes):
        raise TypeError
    if isinstance(value, int | float):
        return value * factor
    return tuple(float(element) * factor for element in value)


def _converted(value: float, unit: str | None, connector: Connector | None) -> float:
    if connector is None:
        return value
    factor, offset = defined_conversion(unit, None, connector.unit, connector.unit_definition)
    return value if (factor, offset) == (1.0, 0.0) else factor * value + offset


def _faulty(table: FaultTable, system: System) -> Connector | None:
    """Output on which a fault is."""
    target = table.on if isinstance(table.on, str) else table.on[0]
    end = Endpoint.parse(target.partition("->")[0].strip())
    component = system.components.get(end.component)
    return component.connector(end.connector) if component else None
