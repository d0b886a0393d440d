"""Names of a package that are imported when they are first used, so that start-up stays short."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any


def lazy_names(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Make ``__getattr__``, ``__dir__`` (PEP 562) and ``__all__`` of a package.

    The one list of its names are its own imports of the form ``from module import name as name``:
    what checkers of types take for public. Those below ``if TYPE_CHECKING:`` are lazy. A name that
    a module of the package has as well cannot be lazy: the module would take its place once it is
    imported.
    """
    module = sys.modules[package]
    source: str = vars(module)["__spec__"].loader.get_source(package)
    body = ast.parse(source).body
    home_of = dict(_public(_for_checkers(body)))
    namespace = vars(module)

    def __getattr__(name: str) -> Any:  # noqa: N807 - what Python calls it
        if name not in home_of:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        from orchestrator.core.optional_packages import optional_imports

        with optional_imports():
            value = namespace[name] = getattr(import_module(home_of[name]), name)
        return value

    def __dir__() -> list[str]:  # noqa: N807
        return sorted({*namespace, *home_of})

    return __getattr__, __dir__, sorted({*home_of, *dict(_public(body))})


def _for_checkers(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Give the statements below ``if TYPE_CHECKING:``."""
    for statement in body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            yield from statement.body


def _public(body: Iterable[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Give the names that statements import as public ones, and their modules."""
    for statement in body:
        if isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                if alias.asname == alias.name:
                    yield alias.name, statement.module or ""
