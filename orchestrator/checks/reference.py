"""The page of the documentation that lists all codes, from the table of codes."""

from __future__ import annotations

from orchestrator.checks.catalogue import FAMILIES, codes
from orchestrator.core.diagnostics.errors import Code

_HEAD = """\
# What `softdock check` finds

Every finding has a code, whose meaning never changes, and a severity. **error**: it cannot be used
so. **warning**: it can, but may not do what its author meant. **note**: worth knowing.
`softdock check --explain CODE` prints what stands here. How to use it, also in continuous
integration, and its JSON: [Check a system](../howto/check.md).

This page is made from the table of codes: `python -m orchestrator.checks.reference`.
"""


def page() -> str:
    """Return the page."""
    parts = [_HEAD]
    for letters, family in FAMILIES.items():
        own = [code for code in codes().values() if code.name.startswith(letters)]
        parts.append(f"\n## {letters}: {family}\n")
        parts.append(_brief(own) if letters == "SSP" else "\n".join(map(_section, own)))
    return "\n".join(parts)


def _section(code: Code) -> str:
    clause = f" ({code.clause})" if code.clause else ""
    return f"""\
### {code.name}: {code.title}

*{code.severity}.* {code.explanation}{clause}
"""


def _brief(own: list[Code]) -> str:
    """Codes whose severity depends on the case, and which need no more than a line."""
    rows = "\n".join(f"| {code.name} | {code.title} |" for code in own)
    return f"What is done about each: [SSP](ssp.md).\n\n| code | means |\n|---|---|\n{rows}\n"


if __name__ == "__main__":
    import sys

    sys.stdout.write(page())
