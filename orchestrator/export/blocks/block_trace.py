"""From a Python block to its equations: it is run once with symbols in place of numbers."""

from __future__ import annotations

import builtins
import linecache
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType, SimpleNamespace, TracebackType
from typing import Any

import casadi as ca
import numpy as np

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.simunits import Block
from orchestrator.core.system import Causality, Value
from orchestrator.export.blocks.block_memory import (
    Field,
    Symbol,
    UntraceableError,
    applied,
    element_names,
    fields_of,
)
from orchestrator.export.dae.operations import FUNCTIONS, as_written, greater, lesser
from orchestrator.export.dae.residual_dae import Kind, Sampled, Variable


@contextmanager
def symbolic_functions(kind: type[Block]) -> Iterator[None]:
    """Let the modules of a block's classes see functions that take symbols."""
    kinds = [c for c in kind.__mro__ if issubclass(c, Block) and c is not Block]
    functions = [f for c in kinds for f in vars(c).values() if isinstance(f, FunctionType)]
    spaces = {id(f.__globals__): f.__globals__ for f in functions}.values()
    replaced = [(space, name, new) for space in spaces for name, new in _replacements(space)]
    before = [(space, name, space[name]) for space, name, _ in replaced if name in space]
    try:
        for space, name, new in replaced:
            space[name] = new
        yield
    finally:
        for space, name, _ in replaced:
            del space[name]
        for space, name, old in before:
            space[name] = old


def _replacements(space: dict[str, Any]) -> list[tuple[str, Any]]:
    functions = {name: _wrapped(name) for name in FUNCTIONS}
    module = SimpleNamespace(**{**vars(math), **functions})
    found: list[tuple[str, Any]] = []
    for name, value in space.items():
        if value is math:
            found.append((name, module))
        for function, replacement in functions.items():
            if value is getattr(math, function):
                found.append((name, replacement))
    for name, operation in (("min", lesser), ("max", greater)):
        if name not in space:
            found.append((name, _extreme(getattr(builtins, name), operation)))
    return found


def _wrapped(name: str) -> Callable[..., Any]:
    """Make a function of ``math`` that takes symbols, too."""

    def function(*values: Any) -> Any:
        if any(isinstance(value, Symbol) for value in values):
            return applied(FUNCTIONS[name], *values)
        return getattr(math, name)(*values)

    return function


def _extreme(builtin: Callable[..., Any], operation: Callable[..., Any]) -> Callable[..., Any]:
    """Make ``min`` or ``max`` that takes symbols, too."""

    def function(*values: Any, **options: Any) -> Any:
        found = list(values[0]) if len(values) == 1 else list(values)
        if options or not any(isinstance(value, Symbol) for value in found):
            return builtin(*values, **options)
        best = found[0]
        for value in found[1:]:
            best = applied(operation, best, value)
        return best

    return function


_ROOM = str(Path(__file__).parents[2])  # where frames are not the block's own


def trace(kind: type[Block], values: Mapping[str, Value]) -> Sampled:
    """Find the equations of a block.

    ``math``, ``min`` and ``max`` are replaced in the modules of the block's classes while it runs.
    """
    what = f"block {kind.__name__}"
    try:
        start = kind(**values)
        _expect_declared(start)
        if kind.follows_inputs():
            raise CapabilityError(
                "it takes what its inputs do over the step (follow), and an exported block holds"
                " them: expected step(t, h)"
            )
        fields = fields_of(start)
        groups = _groups(fields)
        t, h = ca.SX.sym("t"), ca.SX.sym("h")
        time: Any = Symbol(t)
        step: Any = Symbol(h)
        with as_written(), symbolic_functions(kind):
            after = _run(kind, values, fields, lambda block: block.step(time, step))
            first = _run(kind, values, fields, lambda block: block.initialise(time))
    except CapabilityError as error:
        raise CapabilityError(f"{what}: {error}") from None
    return Sampled(
        t,
        h,
        groups[Kind.INPUT],
        groups[Kind.PARAMETER],
        (*groups[Kind.OUTPUT], *groups[Kind.LOCAL]),
        after,
        first,
        _direct(kind, groups, after),
        kind.longest_step,
    )


def _groups(fields: Sequence[Field]) -> Mapping[Kind, tuple[Variable, ...]]:
    every = [variable for field in fields for variable in field.variables]
    kinds = (Kind.INPUT, Kind.PARAMETER, Kind.OUTPUT, Kind.LOCAL)
    return {kind: tuple(v for v in every if v.kind is kind) for kind in kinds}


def _run(
    kind: type[Block],
    values: Mapping[str, Value],
    fields: Sequence[Field],
    call: Callable[[Block], None],
) -> Any:
    """Column of outputs and states after a call."""
    block = kind(**values)
    for field in fields:
        setattr(block, field.name, field.symbols())
    try:
        call(block)
    except Exception as error:
        told = str(error) if isinstance(error, UntraceableError) else f"fails: {error!r}"
        raise CapabilityError(f"{_place(error.__traceback__)} {told}") from error
    _expect_declared(block)
    outputs: list[Any] = []
    states: list[Any] = []
    for field in fields:
        found = field.expressions(getattr(block, field.name))
        sort = field.variables[0].kind
        if sort in {Kind.INPUT, Kind.PARAMETER}:
            if not all(
                ca.is_equal(a, v.symbol) for a, v in zip(found, field.variables, strict=True)
            ):
                raise CapabilityError(
                    f"changes its {sort.value} '{field.name}'; expected State(start=..) for what"
                    " a block remembers"
                )
        else:
            (outputs if sort is Kind.OUTPUT else states).extend(found)
    return ca.vertcat(ca.SX(0, 1), *outputs, *states)


def _expect_declared(block: Block) -> None:
    kind = type(block)
    if kind.get_state is not Block.get_state or kind.set_state is not Block.set_state:
        raise CapabilityError(
            "defines get_state and set_state: what it remembers beside State(start=..) is not known"
        )
    known = {*block.connectors, *block.states}
    if hidden := [name for name in vars(block) if name not in known]:
        raise CapabilityError(
            f"keeps {', '.join(map(repr, hidden))}, which is not declared and would be lost:"
            " declare it with State(start=..)"
        )


def _direct(
    kind: type[Block], groups: Mapping[Kind, tuple[Variable, ...]], after: Any
) -> dict[str, tuple[str, ...]]:
    """What the equations show, less what the block says to act through a state only."""
    inputs, outputs = groups[Kind.INPUT], groups[Kind.OUTPUT]
    u = ca.vertcat(ca.SX(0, 1), *(variable.symbol for variable in inputs))
    shapes = {name: connector.shape for name, connector in kind.connectors.items()}
    every = tuple(c.name for c in kind.connectors.values() if c.causality is Causality.INPUT)
    pattern = ca.jacobian_sparsity(after[: len(outputs)], u)
    rows, columns = pattern.get_triplet()
    found: dict[str, tuple[str, ...]] = {}
    for place, output in enumerate(outputs):
        declared = kind.feedthrough.get(output.array or output.name, every)
        allowed = {element for name in declared for element in element_names(name, shapes[name])}
        acting = [inputs[c].name for r, c in zip(rows, columns, strict=True) if r == place]
        found[output.name] = tuple(name for name in acting if name in allowed)
    return found


def _place(traceback: TracebackType | None) -> str:
    """The innermost line of the block's own code."""
    found = ""
    while traceback is not None:
        file, line = traceback.tb_frame.f_code.co_filename, traceback.tb_lineno
        if not file.startswith((_ROOM, str(Path(np.__file__).parent))):
            found = f"{file}:{line}: '{linecache.getline(file, line).strip()}'"
        traceback = traceback.tb_next
    return found
