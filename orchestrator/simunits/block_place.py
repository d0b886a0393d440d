"""Where another process finds the class of a block."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from orchestrator.errors import CapabilityError, PluginError
from orchestrator.simunits.block import Block

#: The name under which a worker loads the script that its parent runs.
_SCRIPT = "__softdock_script__"


def place_of(kind: type[Block]) -> dict[str, str]:
    """Say where a class is defined: its module, that module's file, and its name.

    Raises
    ------
    CapabilityError
        If it is defined inside a function, or where there is no file.
    """
    name, module = kind.__qualname__, kind.__module__
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    if "<locals>" in name or (module == "__main__" and not file):
        raise CapabilityError(
            f"block {name} of {module} cannot be found by another process; expected a class at the"
            " top of a module or script: move it there, or run it with isolation 'none'"
        )
    return {"module": module, "file": str(Path(file).resolve()) if file else "", "name": name}


def class_at(place: Mapping[str, str]) -> type[Block]:
    """Import the class from a place.

    Raises
    ------
    PluginError
        If its module cannot be imported, or has no such block.
    """
    module, file = place["module"], place["file"]
    try:
        found: object = _module(module, file)
        for part in place["name"].split("."):
            found = getattr(found, part)
    except Exception as error:
        raise PluginError(
            f"block '{place['name']}' ({module}, {file}) cannot be imported in a process of its"
            f" own: {type(error).__name__}: {error}"
        ) from error
    if not (isinstance(found, type) and issubclass(found, Block)):
        raise PluginError(f"block '{place['name']}' ({module}): expected a subclass of Block")
    return found


def _module(name: str, file: str) -> ModuleType:
    if name != "__main__":
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name.split(".", maxsplit=1)[0] or not file:
                raise
    name = _SCRIPT if name == "__main__" else name
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where its annotations are looked up
    spec.loader.exec_module(module)
    return module
