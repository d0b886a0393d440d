"""All codes of `softdock check`."""

from __future__ import annotations

from functools import cache

from orchestrator.checks import (
    components,
    connectors,
    experiment,
    files,
    fmus,
    loops,
    timing,
    values,
)
from orchestrator.core.diagnostics import UnknownNameError
from orchestrator.core.diagnostics.errors import Code
from orchestrator.core.ssp.common import codes as ssp
from orchestrator.core.system import nearest

#: Letters of the families, in the order in which they are documented.
FAMILIES = {
    "FIL": "Files",
    "SSP": "What the reader of SSP files finds",
    "TOM": "System files",
    "EXP": "Experiments",
    "CON": "Connectors and connections",
    "VAL": "Values",
    "ENU": "Enumerations and tables of values",
    "LOO": "Closed loops",
    "TIM": "Steps, delays and rates",
    "CAP": "What the algorithm asks of components",
    "FMU": "FMUs",
    "POR": "Other tools",
}
#: Where codes are.
ROOMS = (files, ssp, experiment, connectors, values, loops, timing, components, fmus)


@cache
def codes() -> dict[str, Code]:
    """Return all codes by name, family by family."""
    found = [code for room in ROOMS for code in room.CODES]
    order = list(FAMILIES)
    return {
        code.name: code for code in sorted(found, key=lambda c: (order.index(c.name[:3]), c.name))
    }


def code_named(name: str) -> Code:
    """Return a code."""
    known = codes()
    found = known.get(name.upper())
    if found is None:
        hint = nearest(name.upper(), known)
        raise UnknownNameError(f"no code '{name}'{hint} (docs/reference/checks.md lists all)")
    return found


def expect_begin(text: str) -> None:
    """Expect that codes begin so, as ``LOO`` or ``CON1``."""
    if not any(name.startswith(text) for name in codes()):
        raise UnknownNameError(
            f"no code begins with '{text}'; expected one of {', '.join(FAMILIES)}, with or without"
            " digits"
        )
