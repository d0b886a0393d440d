"""What other rooms give to those that must not import them: objects by name, from entry points.

An entry point of the group ``softdock.wings`` is called ``WING.NAME``. Nothing of a wing is
imported before something of it is asked for.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.diagnostics.extras import of_an_extra
from orchestrator.core.plugin_group import registered

_GROUP = "softdock.wings"


@cache
def of_wing(name: str) -> Any:
    """Return what a wing gives under a name, ``WING.NAME``."""
    for entry in registered(_GROUP):
        if entry.name == name:
            with of_an_extra():
                return entry.load()
    raise CapabilityError(f"nothing is registered as '{name}': install Softdock again")
