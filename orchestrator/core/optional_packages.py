"""Packages and parts that may be missing, and the sentence that says how to install them.

An extra of ``pip install 'softdock[EXTRA]'`` brings further packages. A part is a folder of this
package, such as ``orchestrator.rig``; an installation may lack one, or have it incomplete.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from orchestrator.core.diagnostics import CapabilityError

#: Names of packages on PyPI, where the module has another.
_PACKAGES = {"PIL": "pillow", "can": "python-can", "foxglove": "foxglove-sdk"}
_REQUIREMENT = re.compile(r"([\w.-]+)[^;]*;.*extra\s*==\s*['\"]([\w-]+)['\"]")
#: Extras that only collect the packages of other extras.
_COLLECTIONS = {"all", "docs", "peers", "test"}
_REPAIR = "pip install --force-reinstall softdock"


class MissingPartError(CapabilityError):
    """A part of Softdock itself is not installed, or not completely."""


@contextmanager
def optional_imports() -> Iterator[None]:
    """Turn the ImportError of a package or part that may be missing into a CapabilityError."""
    try:
        yield
    except ImportError as error:
        if (text := _missing_part(error)) is not None:
            raise MissingPartError(text) from error
        if (text := missing_package(error)) is not None:
            raise CapabilityError(text) from error
        raise


def is_missing_part(error: Exception) -> bool:
    """Whether an import failed because a part of Softdock is missing or incomplete."""
    return isinstance(error, ModuleNotFoundError) and _missing_part(error) is not None


def missing_package(error: Exception) -> str | None:
    """Say how to install the package or the part that an error is about.

    ``None``: the error is not about a package of an extra, nor about a part of Softdock.
    """
    if not isinstance(error, ImportError):
        return None
    if is_missing_part(error):
        return _missing_part(error)
    return _how_to_install((error.name or "").partition(".")[0]) or _incomplete_package(error)


def missing_module(module: str) -> str | None:
    """Say which extra has a module, which is not imported; ``None``: it is installed."""
    spec = find_spec(module)
    # A broken installation may leave a folder without its ``__init__.py``.
    return None if spec is not None and spec.origin else _how_to_install(module)


def _missing_part(error: ImportError) -> str | None:
    """Say which part of Softdock an import needs; ``None``: it is about another package."""
    package, _, module = (error.name or "").partition(".")
    if package != "orchestrator" or not module:
        return None
    part = module.partition(".")[0]
    if isinstance(error, ModuleNotFoundError) and find_spec(f"{package}.{part}") is None:
        return f"this needs the part '{part}' of Softdock, which is not installed: {_REPAIR}"
    if _importer(error) not in {package, "hw_adapters", "python_blocks"}:
        return None  # a module that another version of Softdock has
    return f"the part '{part}' of Softdock is incomplete ({error}): {_REPAIR}"


def _importer(error: ImportError) -> str:
    """Return the package whose code contains the import that failed."""
    at, name = error.__traceback__, ""
    while at is not None:
        name, at = str(at.tb_frame.f_globals.get("__name__")), at.tb_next
    return name.partition(".")[0]


def _incomplete_package(error: ImportError) -> str | None:
    """Say which package of an extra could not be imported because it is incomplete."""
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


def _how_to_install(module: str) -> str | None:
    if (extra := _extra_of(module)) is None:
        return None
    return (
        f"this needs the package '{_PACKAGES.get(module, module)}', which is not installed:"
        f" {install_line(extra)}"
    )


#: What extras add to an installation, in MB; docs/reference/install.md has the table.
_MEGABYTES = {
    "cluster": 43,
    "compiled": 220,
    "cross": 430,
    "fmu": 360,
    "foxglove": 54,
    "mcap": 32,
    "modelica": 360,
    "parquet": 180,
    "pictures": 100,
    "rig": 6,
    "xarray": 20,
}


def install_line(extra: str) -> str:
    """Return the command that installs an extra, with the size of what it installs."""
    return f"pip install 'softdock[{extra}]' ({_MEGABYTES[extra]} MB)"


def _extra_of(module: str) -> str | None:
    from importlib.metadata import requires

    for requirement in requires("softdock") or ():
        match = _REQUIREMENT.match(requirement)
        if match and match[1] == _PACKAGES.get(module, module) and match[2] not in _COLLECTIONS:
            return match[2]
    return None
