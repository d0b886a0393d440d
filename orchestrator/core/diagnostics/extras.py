"""Packages that are installed by extras: which extra has one that is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from orchestrator.core.diagnostics.errors import CapabilityError

#: Names of packages on PyPI, where the module has another.
_PACKAGES = {"PIL": "pillow", "can": "python-can", "foxglove": "foxglove-sdk"}
_REQUIREMENT = re.compile(r"([\w.-]+)[^;]*;.*extra\s*==\s*['\"]([\w-]+)['\"]")
#: Extras that have what others have, too.
_SUMS = {"all", "docs", "peers", "test"}


def lacking_package(missing: Exception) -> str | None:
    """Say which extra has the package that an error lacks; ``None``: it is about none of ours."""
    if not isinstance(missing, ModuleNotFoundError):
        return None
    return _lacking((missing.name or "").partition(".")[0])


def lacking(module: str) -> str | None:
    """Say which extra has a module, which is not imported; ``None``: it is installed."""
    found = find_spec(module)
    # A folder without its ``__init__.py`` is what a broken installation leaves.
    return None if found is not None and found.origin else _lacking(module)


def _lacking(module: str) -> str | None:
    from importlib.metadata import requires

    package = _PACKAGES.get(module, module)
    for requirement in requires("softdock") or ():
        found = _REQUIREMENT.match(requirement)
        if found and found[1] == package and found[2] not in _SUMS:
            return (
                f"this needs the package '{package}', which is not installed:"
                f" pip install 'softdock[{found[2]}]'"
            )
    return None


@contextmanager
def of_an_extra() -> Iterator[None]:
    """Import here what may not be installed: a package that is missing is a CapabilityError."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if (said := lacking_package(missing)) is None:
            raise
        raise CapabilityError(said) from missing
