"""Names of a package that are imported when they are first used, so that start-up stays short."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make ``__getattr__`` and ``__dir__`` of a package (PEP 562).

    Parameters
    ----------
    package
        Its ``__name__``.
    homes
        By module, the names that it defines, with spaces between them. A name that a module of the
        package has as well cannot be lazy: the module would take its place once it is imported.
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}
    namespace = vars(sys.modules[package])

    def __getattr__(name: str) -> Any:  # noqa: N807 - what Python calls it
        if name not in home_of:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        found = namespace[name] = getattr(import_module(home_of[name]), name)
        return found

    def __dir__() -> list[str]:  # noqa: N807
        return sorted({*namespace, *home_of})

    return __getattr__, __dir__
