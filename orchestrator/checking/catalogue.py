"""All codes of `softdock check`."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache

from orchestrator.checking import (
    bindings,
    capabilities,
    connectors,
    enumerations,
    experiment,
    files,
    flow,
    fmus,
    loops,
    portability,
    reading,
    sources,
    system_files,
    timing,
    values,
)
from orchestrator.checking.code import Code
from orchestrator.errors import UnknownNameError

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
_ROOMS = (
    files,
    reading,
    system_files,
    experiment,
    connectors,
    flow,
    values,
    bindings,
    enumerations,
    loops,
    timing,
    capabilities,
    sources,
    fmus,
    portability,
)


@cache
def codes() -> dict[str, Code]:
    """Return all codes by name, family by family."""
    found = [code for room in _ROOMS for code in room.CODES]
    order = list(FAMILIES)
    return {
        code.name: code for code in sorted(found, key=lambda c: (order.index(c.name[:3]), c.name))
    }


def code_named(name: str) -> Code:
    """Return a code.

    Raises
    ------
    UnknownNameError
        If there is none of that name.
    """
    known = codes()
    found = known.get(name.upper())
    if found is None:
        close = get_close_matches(name.upper(), list(known), n=3)
        hint = f"; did you mean {', '.join(close)}?" if close else ""
        raise UnknownNameError(f"no code '{name}'{hint} (docs/reference/checks.md lists all)")
    return found


def expect_begin(text: str) -> None:
    """Expect that codes begin so, as ``LOO`` or ``CON1``.

    Raises
    ------
    UnknownNameError
        If none does.
    """
    if not any(name.startswith(text) for name in codes()):
        raise UnknownNameError(
            f"no code begins with '{text}'; expected one of {', '.join(FAMILIES)}, with or without"
            " digits"
        )
