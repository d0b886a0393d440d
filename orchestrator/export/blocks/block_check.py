"""Whether the equations of a block say what the block does, by running both on random values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.simunits import Block
from orchestrator.core.system import Value
from orchestrator.export.dae.operations import as_written
from orchestrator.export.dae.residual_dae import DataType, Kind, Variable
from orchestrator.export.dae.sampled import Sampled

_STEPS = 64
#: Functions of numpy and of C round differently; a branch that flips over that would be seen.
_TOLERANCE = 1e-6
_LONGEST = 0.01  # s, of a block that takes any step


def check_equations(kind: type[Block], values: Mapping[str, Value], sampled: Sampled) -> None:
    """Compare a block with its equations, with its own parameters and random inputs.

    Values on which the block itself fails are no difference; the comparison ends there.
    """
    block = kind(**values)
    random = np.random.default_rng(1)
    u, p, m = sampled.columns
    with as_written():
        following = ca.Function("next", [sampled.time, sampled.step, u, p, m], [sampled.next])
        beginning = ca.Function("first", [sampled.time, u, p, m], [sampled.first])
    parameters = [float(v.start) for v in sampled.parameters]
    memory = [float(v.start) for v in sampled.memory]
    longest = min(sampled.longest_step or math.inf, _LONGEST)
    time = 0.0
    for count in range(_STEPS):
        inputs = _random_values(random, sampled.inputs)
        _give(block, sampled.inputs, inputs)
        step = float(random.uniform(0.1, 1.0)) * longest
        try:
            if count == 0:
                block.initialise(time)
            else:
                block.step(time, step)
        except (ArithmeticError, ValueError):
            return
        if count == 0:
            memory = _column(beginning(time, inputs, parameters, memory))
        else:
            memory = _column(following(time, step, inputs, parameters, memory))
            time += step
        _compare(block, sampled, memory, f"at step {count} of {_STEPS} with random inputs")


def _random_values(random: np.random.Generator, variables: Sequence[Variable]) -> list[float]:
    draws = {
        DataType.REAL: lambda: float(random.normal()),
        DataType.INTEGER: lambda: float(random.integers(-5, 6)),
        DataType.BOOLEAN: lambda: float(random.integers(0, 2)),
    }
    return [draws[variable.type]() for variable in variables]


def _give(block: Block, variables: Sequence[Variable], values: Sequence[float]) -> None:
    found: dict[str, list[float]] = {}
    for variable, value in zip(variables, values, strict=True):
        found.setdefault(variable.array or variable.name, []).append(value)
    forms: dict[DataType, Any] = {DataType.INTEGER: int, DataType.BOOLEAN: bool}
    for name, numbers in found.items():
        connector = block.connectors[name]
        form = forms.get(DataType(connector.type.value), float)
        block.assign(connector, tuple(numbers) if connector.shape else form(numbers[0]))


def _compare(block: Block, sampled: Sampled, memory: Sequence[float], when: str) -> None:
    values: dict[str, list[float]] = {}
    for variable, value in zip(sampled.memory, memory, strict=True):
        name = variable.array or variable.name
        if name not in values:
            found = np.ravel(np.asarray(getattr(block, name), dtype=float))
            values[name] = found.tolist()
        actual = values[name].pop(0)
        if not math.isclose(actual, value, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE) and not (
            math.isnan(actual) and math.isnan(value)
        ):
            sort = "output" if variable.kind is Kind.OUTPUT else "state"
            raise CapabilityError(
                f"block {type(block).__name__}: {sort} '{variable.name}' is {actual!r} {when}, its"
                f" equations give {value!r}: it depends on more than its inputs, parameters,"
                " states and time, such as a clock, random numbers or variables of its module"
            )


def _column(values: Any) -> list[float]:
    return [float(value) for value in np.ravel(np.asarray(values))]
