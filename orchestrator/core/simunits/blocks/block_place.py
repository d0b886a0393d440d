"""Where the class of a block is: as files name it, and as another process finds it."""

from __future__ import annotations

import importlib.util
import site
import sys
import sysconfig
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from orchestrator.core.diagnostics import CapabilityError, PluginError
from orchestrator.core.simunits.blocks.block import Block
from orchestrator.core.simunits.blocks.block_file import (
    failure,
    files_of,
    is_of_file,
    module_of_file,
)
from orchestrator.core.system import Source
from orchestrator.core.system.naming import lacking


@dataclass(frozen=True, slots=True)
class Given:
    """The class of a block that a program gave; another process finds it by its location."""

    kind: type[Block]

    def location(self) -> str:
        """Return its location; see :func:`location_of`."""
        return location_of(self.kind)

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return given_at, (self.location(),)


def given_at(location: str) -> Given:
    """Find in this process what another one was given."""
    return Given(class_at(location))


def label_of(kind: type[Block]) -> str:
    """Say where a class is from: ``FILE.py:CLASS`` or ``MODULE:CLASS``, as far as it is known."""
    name, module = kind.__module__, sys.modules.get(kind.__module__)
    spec = getattr(module, "__spec__", None)
    if name == "__main__" and spec is not None and spec.parent:  # python -m package.module
        name = spec.name
    return f"{_own_file(name, module) or name}:{kind.__qualname__}"


def location_of(kind: type[Block]) -> str:
    """Return the location by which files and other processes find a class."""
    name, module = kind.__qualname__, sys.modules.get(kind.__module__)
    label = label_of(kind)
    has_file = getattr(module, "__file__", None) is not None
    found = None if module is None or not has_file else _within(module, name)
    if found is kind and not label.startswith("__main__:"):  # of a prompt or a notebook
        return label
    why = "cannot be found by another process"
    if found is not None and found is not kind:
        why += ": its module has another class of this name now"
    raise CapabilityError(
        f"block {name} of {kind.__module__} {why}; expected a class at the top of a module or"
        " script, defined once: move it there, or run it with isolation 'none' and without a file"
    )


def class_at(location: str) -> type[Block]:
    """Return the class of a location ``FILE.py:CLASS`` or ``MODULE:CLASS``."""
    place, _, name = location.rpartition(":")
    try:
        is_file = place.endswith(".py")
        module = module_of_file(Path(place)) if is_file else _imported(place)
    except PluginError as error:
        raise PluginError(f"block '{location}' cannot be imported: {error}") from error
    found = _within(module, name)
    if isinstance(found, type) and issubclass(found, Block):
        return found
    if found is not None:
        what = f"class {found.__name__}" if isinstance(found, type) else repr(found)
        raise PluginError(f"block '{location}': expected a subclass of Block, found {what}")
    own = {
        key
        for key, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Block) and value is not Block
    }
    raise lacking(place, "block", name, sorted(own))


def files_at(source: Source) -> list[Path]:
    """Return the files that a block of a file needs: its own, and those it imports beside it."""
    file = source.file
    return [] if file is None else files_of(module_of_file(file))


def _own_file(name: str, module: ModuleType | None) -> Path | None:
    """Return the file by which a class of a module is found: of scripts and of single modules.

    Modules of packages, and those that are installed, are found by their names.
    """
    file = getattr(module, "__file__", None)
    if file is None or not file.endswith(".py"):
        return None
    path = Path(file).resolve()
    if is_of_file(name) or name == "__main__":
        return path
    installed = {*site.getsitepackages(), sysconfig.get_path("stdlib"), site.getusersitepackages()}
    is_installed = any(path.is_relative_to(folder) for folder in installed)
    return None if "." in name or is_installed else path


def _within(module: ModuleType, name: str) -> object:
    found: object = getattr(module, name, None)
    if found is None and "." in name:
        found = module
        for part in name.split("."):
            found = getattr(found, part, None)
    return found


def _imported(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise _broken(name, error) from error
        raise PluginError(
            f"no module '{error.name}' is found: install it, put its folder on PYTHONPATH, or name"
            " a file, block:FILE.py:CLASS"
        ) from error
    except (Exception, SystemExit) as error:
        raise _broken(name, error) from error


def _broken(name: str, error: BaseException) -> PluginError:
    spec = None
    with suppress(Exception):  # a package above it fails, which the error says
        spec = importlib.util.find_spec(name)
    origin = Path(spec.origin) if spec is not None and spec.origin else Path(name)
    return failure(origin, error, name.partition(".")[0])
