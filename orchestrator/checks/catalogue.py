"""All codes of `softdock check`, and the page of the documentation that lists them."""

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
from orchestrator.core.diagnostics import UnknownNameError, suggestion
from orchestrator.core.diagnostics.errors import Code
from orchestrator.core.ssp.common import codes as ssp

#: Letters of the families, in the order in which they are documented.
FAMILIES = {
    "FIL": "Files",
    "SSP": "Reading of SSP files",
    "TOM": "System files",
    "EXP": "Experiments",
    "CON": "Connectors and connections",
    "VAL": "Values",
    "ENU": "Enumerations and tables of values",
    "LOO": "Closed loops",
    "TIM": "Steps, delays and rates",
    "CAP": "Algorithms and components",
    "FMU": "FMUs",
    "POR": "Portability to other tools",
}
#: Where codes are.
ROOMS = (files, ssp, experiment, connectors, values, loops, timing, components, fmus)


@cache
def codes() -> dict[str, Code]:
    """Return all codes by name, family by family."""
    catalogue = [code for room in ROOMS for code in room.CODES]
    order = list(FAMILIES)
    return {
        code.name: code
        for code in sorted(catalogue, key=lambda c: (order.index(c.name[:3]), c.name))
    }


def code_named(name: str) -> Code:
    """Return a code."""
    catalogue = codes()
    code = catalogue.get(name.upper())
    if code is None:
        hint = suggestion(name.upper(), catalogue)
        raise UnknownNameError(
            f"no code '{name}'{hint or '.'} The page docs/reference/checks.md lists all codes"
        )
    return code


def expect_begin(text: str) -> None:
    """Expect that codes begin so, as ``LOO`` or ``CON1``."""
    if not any(name.startswith(text) for name in codes()):
        raise UnknownNameError(
            f"no code begins with '{text}'; expected one of {', '.join(FAMILIES)}, with or without"
            " digits"
        )


_HEAD = """\
# Findings of `softdock check`

`softdock check` reports findings, each with a code whose meaning never changes, and a severity:

| severity | meaning |
|---|---|
| error | the system cannot be used this way |
| warning | it can be used, but perhaps not as its author intended |
| note | worth knowing |

`softdock check --explain CODE` prints the entry of this page. [Check a system](../howto/check.md)
describes the command, its use in continuous integration, and its JSON.

`python -m orchestrator.checks.catalogue` makes this page from the table of codes.
"""


def page() -> str:
    """Return the page."""
    parts = [_HEAD]
    for letters, family in FAMILIES.items():
        room_codes = [code for code in codes().values() if code.name.startswith(letters)]
        parts.append(f"\n## {letters}: {family}\n")
        parts.append(
            _brief(room_codes) if letters == "SSP" else "\n".join(map(_section, room_codes))
        )
    return "\n".join(parts)


def _section(code: Code) -> str:
    clause = f" ({code.clause})" if code.clause else ""
    return f"""\
### {code.name}: {code.title}

*{code.severity}.* {code.explanation}{clause}
"""


def _brief(room_codes: list[Code]) -> str:
    """Codes whose severity depends on the case, and which need no more than a line."""
    rows = "\n".join(f"| {code.name} | {code.title} |" for code in room_codes)
    return f"[SSP files](ssp.md#findings) has more.\n\n| code | meaning |\n|---|---|\n{rows}\n"


if __name__ == "__main__":
    import sys

    sys.stdout.write(page())
