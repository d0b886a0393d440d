"""Checks of the methods of a block: their arguments, and the names of ``self`` that they assign."""

from __future__ import annotations

import dis
from collections.abc import Collection, Iterator, Mapping
from inspect import CO_VARARGS
from pathlib import Path
from types import CodeType, FunctionType
from typing import get_type_hints

from orchestrator.core.diagnostics import DescriptionError, suggestion, with_article
from orchestrator.core.system import Causality, Connector


def expect_declared(
    kind: type, connectors: Mapping[str, Connector], states: Collection[str]
) -> None:
    """Refuse a class whose methods assign an input, a parameter or an undeclared name of ``self``.

    Declared are connectors and states, what the body of a class names, and what ``__init__``
    assigns; a name with an underscore in front is the block's own affair. The code is read, not
    run: so it costs no time in a step, and finds what no run has come to yet.
    """
    classes = [base for base in kind.__mro__ if base is not object]
    declared = [*connectors, *states]
    known_names = {name for block_class in classes for name in vars(block_class)}
    known_names |= set(get_type_hints(kind)) | set(declared)
    problems: dict[str, tuple[str, str]] = {}
    for method, position, name in _assigned(classes):
        if method == "__init__":
            known_names.add(name)
        elif not name.startswith("_"):
            problems.setdefault(name, (method, position))
    fixed = {c.name: c for c in connectors.values() if c.causality is not Causality.OUTPUT}
    messages = [
        f"block {kind.__name__}: '{name}' is {with_article(fixed[name].causality)} and is assigned"
        f" in {method} ({position}); only outputs and states can be assigned"
        for name, (method, position) in problems.items()
        if name in fixed
    ]
    messages += [
        f"block {kind.__name__}: '{name}' is assigned in {method} ({position}) and not"
        f" declared{suggestion(name, sorted(declared)) or '.'} Declare a state as {name}: float ="
        f" State(start=..) or an output as {name}: float = Output(..); call a value that need not"
        f" be saved self._{name}"
        for name, (method, position) in problems.items()
        if name not in known_names
    ]
    if messages:
        raise DescriptionError(*messages)


def expect_arguments(kind: type, base: type, method: str) -> None:
    """Refuse a method that cannot be called with the arguments of the method of the base class."""
    function, expected = getattr(kind, method), getattr(base, method).__code__
    if not isinstance(function, FunctionType):
        return
    code = function.__code__
    required = code.co_argcount - len(function.__defaults__ or ())
    has_more = bool(code.co_flags & CO_VARARGS)
    if required <= expected.co_argcount and (has_more or expected.co_argcount <= code.co_argcount):
        return
    arguments = (
        ", ".join(signature.co_varnames[: signature.co_argcount]) for signature in (code, expected)
    )
    call, expected_call = (f"{method}({names})" for names in arguments)
    raise DescriptionError(
        f"block {kind.__name__}: {call} ({Path(code.co_filename).name}, line"
        f" {code.co_firstlineno}) has other arguments than expected: write {expected_call}"
    )


def _assigned(classes: list[type]) -> Iterator[tuple[str, str, str]]:
    """Give method, place and name of every assignment to an attribute of the first argument."""
    for block_class in classes:
        for name, function in vars(block_class).items():
            if isinstance(function, FunctionType) and function.__code__.co_argcount:
                for line, attribute in _stores(function.__code__):
                    file = Path(function.__code__.co_filename).name
                    yield name, f"{file}, line {line}", attribute


def _stores(code: CodeType) -> Iterator[tuple[int, str]]:
    receiver, before, line = code.co_varnames[0], None, code.co_firstlineno
    for instruction in dis.get_instructions(code):
        position = instruction.positions
        line = (position.lineno if position else None) or line
        if instruction.opname == "STORE_ATTR" and before == receiver:
            yield line, instruction.argval
        # Some versions of Python load two variables at once.
        loaded = instruction.argval if instruction.opname.startswith("LOAD_") else None
        before = loaded[-1] if isinstance(loaded, tuple) and loaded else loaded
