"""System files (TOML) that cannot be read."""

from __future__ import annotations

from orchestrator.core.diagnostics.errors import Code, error

CODES: tuple[Code, ...] = (
    error(
        "TOM101",
        "the system file is not as it should be",
        "A key is unknown or missing, or a value does not fit. See docs/reference/system-toml.md.",
    ),
    error(
        "TOM102",
        "a system file cannot be read",
        "The file that a case names as its system is missing, or is no TOML.",
    ),
)
