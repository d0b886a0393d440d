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
    if not isinstance(missing, ImportError):
        return None
    return _lacking((missing.name or "").partition(".")[0]) or _in_part(missing)


def _in_part(error: ImportError) -> str | None:
    """Say which package of an extra could not be imported because it is not whole."""
    at = error.__traceback__
    while at is not None:
        module = str(at.tb_frame.f_globals.get("__name__")).partition(".")[0]
        if extra := _extra_of(module):
            package = _PACKAGES.get(module, module)
            return (
                f"the package '{package}' of 'softdock[{extra}]' is installed in part ({error}):"
                f" pip install --force-reinstall {package}"
            )
        at = at.tb_next
    return None


def lacking(module: str) -> str | None:
    """Say which extra has a module, which is not imported; ``None``: it is installed."""
    found = find_spec(module)
    # A folder without its ``__init__.py`` is what a broken installation leaves.
    return None if found is not None and found.origin else _lacking(module)


def _lacking(module: str) -> str | None:
    if (extra := _extra_of(module)) is None:
        return None
    return (
        f"this needs the package '{_PACKAGES.get(module, module)}', which is not installed:"
        f" pip install 'softdock[{extra}]'"
    )


def _extra_of(module: str) -> str | None:
    from importlib.metadata import requires

    for requirement in requires("softdock") or ():
        found = _REQUIREMENT.match(requirement)
        if found and found[1] == _PACKAGES.get(module, module) and found[2] not in _SUMS:
            return found[2]
    return None


@contextmanager
def of_an_extra() -> Iterator[None]:
    """Import here what may not be installed: a package that is missing is a CapabilityError."""
    try:
        yield
    except ImportError as missing:
        if (said := lacking_package(missing)) is None:
            raise
        raise CapabilityError(said) from missing
