"""What other rooms give to those that must not import them: objects by name, from entry points.

An entry point of the group ``softdock.wings`` is called ``WING.NAME``. Nothing of a wing is
imported before something of it is asked for.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.plugin_group import registered

_GROUP = "softdock.wings"
#: What a wing's packages are installed by, where that is not its own name.
_EXTRA = {"export": "modelica"}


@cache
def of_wing(name: str) -> Any:
    """Return what a wing gives under a name, ``WING.NAME``.

    Raises
    ------
    CapabilityError
        If the wing, or a package that it needs, is not installed; the message names the extra.
    """
    found = next((entry for entry in registered(_GROUP) if entry.name == name), None)
    wing = name.partition(".")[0]
    install = f"pip install 'softdock[{_EXTRA.get(wing, wing)}]'"
    if found is None:
        raise CapabilityError(f"'{name}' is not installed: {install}")
    try:
        return found.load()
    except ModuleNotFoundError as missing:
        package = (missing.name or "").partition(".")[0]
        if package == "orchestrator":
            raise
        raise CapabilityError(
            f"this needs the package '{package}', which is not installed: {install}"
        ) from missing
