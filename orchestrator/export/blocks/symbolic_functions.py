"""``math``, ``min`` and ``max`` as a block's modules see them while it is traced."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType, SimpleNamespace
from typing import Any

from orchestrator.core.simunits import Block
from orchestrator.export.blocks.symbol import Symbol, applied
from orchestrator.export.dae.operations import FUNCTIONS, greater, lesser


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
