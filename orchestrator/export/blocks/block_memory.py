"""What a block remembers, as scalar variables: its connectors and states, element by element."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any

import casadi as ca
import numpy as np

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.simunits import Block
from orchestrator.core.system import Causality, Connector
from orchestrator.core.system import DataType as PortType
from orchestrator.export.blocks.symbol import Symbol, expression_of, symbol_array
from orchestrator.export.dae.residual_dae import DataType, Kind, Variable
from orchestrator.export.dae.sampled import Sampled

_TYPES = {
    PortType.REAL: DataType.REAL,
    PortType.INTEGER: DataType.INTEGER,
    PortType.BOOLEAN: DataType.BOOLEAN,
}
_KINDS = {
    Causality.INPUT: Kind.INPUT,
    Causality.OUTPUT: Kind.OUTPUT,
    Causality.PARAMETER: Kind.PARAMETER,
}


@dataclass(frozen=True, slots=True)
class Field:
    """One attribute of a block: a number, an array, or a list or tuple of numbers.

    Attributes
    ----------
    form
        The type of the attribute.
    variables
        Its elements, in row-major order.
    """

    name: str
    form: type
    shape: tuple[int, ...]
    variables: tuple[Variable, ...]

    def symbols(self) -> Any:
        """The attribute while the block is traced."""
        symbols = [variable.symbol for variable in self.variables]
        if self.form is np.ndarray:
            return symbol_array(symbols, self.shape)
        if not self.shape:
            return Symbol(symbols[0])
        return self.form(Symbol(symbol) for symbol in symbols)

    def expressions(self, value: Any) -> list[Any]:
        """The elements of the attribute, as expressions."""
        elements = [value]
        if self.shape:
            elements = list(np.ravel(np.asarray(value, dtype=object)))
        if np.shape(elements if self.shape else 0) != (
            (len(self.variables),) if self.shape else ()
        ):
            raise CapabilityError(
                f"'{self.name}' begins with {len(self.variables)} elements and has"
                f" {len(elements)} after a step; expected as many"
            )
        return [expression_of(element) for element in elements]


def fields_of(block: Block) -> tuple[Field, ...]:
    """List inputs, outputs, parameters and states of a block, with its values as start values."""
    listed = [_port(connector, getattr(block, connector.name)) for connector in _ports(block)]
    return (*listed, *(_state(name, getattr(block, name)) for name in block.states))


def _ports(block: Block) -> Iterator[Connector]:
    for connector in block.connectors.values():
        if connector.type not in _TYPES:
            raise CapabilityError(
                f"'{connector.name}' is a {connector.type}; C code is made of numbers only"
            )
        yield connector


def _port(connector: Connector, value: Any) -> Field:
    unit, about = connector.unit, connector.description
    kind, data_type = _KINDS[connector.causality], _TYPES[connector.type]
    form = np.ndarray if connector.shape else type(value)
    facts: dict[str, Any] = {"unit": unit, "description": about}
    if (limits := connector.limits) is not None:  # FMI knows no ends that are just not in a range
        facts["minimum"] = limits.least if isfinite(limits.least) else None
        facts["maximum"] = limits.most if isfinite(limits.most) else None
    made = _variables(connector.name, connector.shape, kind, data_type, value, facts)
    return Field(connector.name, form, connector.shape, made)


def _state(name: str, value: Any) -> Field:
    array = np.asarray(value)
    if array.dtype.kind not in "fiub" or not isinstance(
        value, (float, int, list, tuple, np.ndarray)
    ):
        raise CapabilityError(
            f"state '{name}' starts as {value!r}; C code keeps numbers and arrays, lists and tuples"
            " of them"
        )
    if isinstance(value, (list, tuple)) and array.ndim != 1:
        raise CapabilityError(f"state '{name}' is a list of lists; expected an array of numpy")
    types = {"b": DataType.BOOLEAN, "i": DataType.INTEGER, "u": DataType.INTEGER}
    data_type = types.get(array.dtype.kind, DataType.REAL)
    facts = {"unit": None, "description": "State of the block"}
    made = _variables(name, array.shape, Kind.LOCAL, data_type, array, facts)
    return Field(name, type(value), array.shape, made)


def _variables(
    name: str, shape: tuple[int, ...], kind: Kind, data_type: DataType, value: Any, facts: Any
) -> tuple[Variable, ...]:
    numbers = np.ravel(np.asarray(value, dtype=float)).tolist()
    return tuple(
        Variable(
            element,
            kind,
            data_type,
            ca.SX.sym(element),
            ca.SX(number),
            array=name if shape else "",
            shape=shape,
            **facts,
        )
        for element, number in zip(element_names(name, shape), numbers, strict=True)
    )


def element_names(name: str, shape: tuple[int, ...]) -> list[str]:
    """Names of the elements of an array, counted from 1, in row-major order."""
    if not shape:
        return [name]
    points = itertools.product(*(range(1, size + 1) for size in shape))
    return [f"{name}[{','.join(map(str, point))}]" for point in points]


def declared(block: Block) -> Sampled:
    """What a block says of itself, without its equations and states."""
    fields = [_port(connector, getattr(block, connector.name)) for connector in _ports(block)]
    inputs, parameters, outputs = (
        tuple(v for field in fields for v in field.variables if v.kind is kind)
        for kind in (Kind.INPUT, Kind.PARAMETER, Kind.OUTPUT)
    )
    shapes = {name: connector.shape for name, connector in block.connectors.items()}
    every = tuple(dict.fromkeys(v.array or v.name for v in inputs))
    direct = {
        output.name: tuple(
            element
            for name in block.feedthrough.get(output.array or output.name, every)
            for element in element_names(name, shapes[name])
        )
        for output in outputs
    }
    anything = sum((v.symbol for v in (*inputs, *parameters)), ca.SX(0))
    unknown = ca.repmat(anything, len(outputs), 1)
    return Sampled(
        ca.SX.sym("t"),
        ca.SX.sym("h"),
        inputs,
        parameters,
        outputs,
        unknown,
        unknown,
        direct,
        block.longest_step,
    )
