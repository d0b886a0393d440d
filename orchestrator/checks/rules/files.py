"""Files that cannot be checked at all."""

from __future__ import annotations

from orchestrator.core.diagnostics.errors import Code, error, note

CODES: tuple[Code, ...] = (
    error(
        "FIL101",
        "the target cannot be checked",
        "It is missing or unreadable, a folder without a system, or of a kind that is not known."
        " The exit code is 2.",
    ),
    note(
        "FIL102",
        "steps, loops and capabilities were not looked at",
        "They can only be told of a system that has components, whose sources can be opened and"
        " whose connections hold. Mend the errors that are listed, and check again.",
    ),
)
