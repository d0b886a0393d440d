"""Modules by names that earlier versions documented: found, with a warning that says the new."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from importlib.abc import Loader

#: Present names of modules, by those that they had.
NEW_NAMES = {
    "orchestrator.campaign": "orchestrator.experiment",
    "orchestrator.campaign.prepare": "orchestrator.experiment.prepare.prepare",
    "orchestrator.errors": "orchestrator.diagnostics",
    "orchestrator.master.plan": "orchestrator.master.algorithms.plan",
    "orchestrator.portable": "orchestrator.export.portable",
    "orchestrator.simunits.compiled": "orchestrator.simunits.blocks.compiled",
    "orchestrator.system_fmu": "orchestrator.export.system",
}


class _Renamed:
    """Finds a module under its old name, after all finders that know files, and loads it."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Return a specification for old names only."""
        if fullname not in NEW_NAMES:
            return None
        return ModuleSpec(fullname, cast("Loader", self), is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return a module that holds what the new one holds."""
        new = NEW_NAMES[spec.name]
        warnings.warn(
            f"'{spec.name}' is now '{new}'; public names are those of 'orchestrator'",
            DeprecationWarning,
            stacklevel=2,
        )
        return ModuleType(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Fill it; names that the new module makes when they are used are made then, too."""
        new = import_module(NEW_NAMES[module.__name__])
        vars(module)["__getattr__"] = lambda name: getattr(new, name)


def accept_old_names() -> None:
    """Let Python find renamed modules; once in a process."""
    if not any(isinstance(finder, _Renamed) for finder in sys.meta_path):
        sys.meta_path.append(_Renamed())
