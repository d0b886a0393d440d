"""Names that the methods of a block assign, and whether the block declares them."""

from __future__ import annotations

import dis
from collections.abc import Collection, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import get_type_hints

from orchestrator.core.diagnostics import DescriptionError, nearest


def expect_declared(kind: type, declared: Collection[str]) -> None:
    """Refuse a class whose methods assign a name of ``self`` that nothing declares.

    Declared are connectors and states, what the body of a class names, and what ``__init__``
    assigns; a name with an underscore in front is the block's own affair. The code is read, not
    run: so it costs no time in a step, and finds what no run has come to yet.

    Parameters
    ----------
    kind
        The class of a block.
    declared
        Its connectors and states.

    Raises
    ------
    DescriptionError
        All such names, each with its line.
    """
    classes = [each for each in kind.__mro__ if each is not object]
    named = {name for each in classes for name in vars(each)}
    named |= set(get_type_hints(kind)) | set(declared)
    problems: dict[str, tuple[str, str]] = {}
    for method, place, name in _assigned(classes):
        if method == "__init__":
            named.add(name)
        elif not name.startswith("_"):
            problems.setdefault(name, (method, place))
    found = [
        f"block {kind.__name__}: '{name}' is assigned in {method} ({place}) and not declared"
        f"{nearest(name, sorted(declared))}; declare what a block remembers by"
        f" {name}: float = State(start=..), what it gives by Output(); what need not be saved with"
        f" it is called self._{name}"
        for name, (method, place) in problems.items()
        if name not in named
    ]
    if found:
        raise DescriptionError(*found)


def _assigned(classes: list[type]) -> Iterator[tuple[str, str, str]]:
    """Give method, place and name of every assignment to an attribute of the first argument."""
    for each in classes:
        for name, function in vars(each).items():
            if isinstance(function, FunctionType) and function.__code__.co_argcount:
                for line, attribute in _stores(function.__code__):
                    file = Path(function.__code__.co_filename).name
                    yield name, f"{file}, line {line}", attribute


def _stores(code: CodeType) -> Iterator[tuple[int, str]]:
    own, before, line = code.co_varnames[0], None, code.co_firstlineno
    for instruction in dis.get_instructions(code):
        position = instruction.positions
        line = (position.lineno if position else None) or line
        if instruction.opname == "STORE_ATTR" and before == own:
            yield line, instruction.argval
        # Some versions of Python load two variables at once.
        loaded = instruction.argval if instruction.opname.startswith("LOAD_") else None
        before = loaded[-1] if isinstance(loaded, tuple) and loaded else loaded
