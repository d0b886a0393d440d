"""What other rooms give to those that must not import them: objects by name, from entry points.

An entry point of the group ``softdock.wings`` is called ``WING.NAME``. Nothing of a wing is
imported before something of it is asked for.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.plugin_group import lacking_package, registered

_GROUP = "softdock.wings"


@cache
def of_wing(name: str) -> Any:
    """Return what a wing gives under a name, ``WING.NAME``."""
    for entry in registered(_GROUP):
        if entry.name == name:
            try:
                return entry.load()
            except ModuleNotFoundError as missing:
                if (said := lacking_package(missing)) is None:
                    raise
                raise CapabilityError(said) from missing
    raise CapabilityError(f"nothing is registered as '{name}': install Softdock again")
