"""System files (TOML) that cannot be read."""

from __future__ import annotations

from orchestrator.checking.code import Code, error
from orchestrator.checking.finding import Finding

CODES: tuple[Code, ...] = (
    error(
        "TOM101",
        "the system file is not as it should be",
        "A key is unknown or missing, or a value does not fit. See docs/reference/system-file.md.",
    ),
    error(
        "TOM102",
        "a system file cannot be read",
        "The file that a case names as its system is missing, or is no TOML.",
    ),
)


def misread(text: str) -> Finding:
    """Turn a problem of a system file, such as ``"'component.a': .."``, into a finding."""
    key, quote, rest = text.removeprefix("'").partition("': ")
    if not quote or not text.startswith("'"):
        return Finding("TOM101", "", text)
    words = key.split(".", 2)
    at = words[1] if len(words) > 1 and words[0] in {"component", "nested"} else ""
    if words[0] == "connections":
        at = key.removeprefix("connections.")
    return Finding("TOM101", at, f"'{key}': {rest}")
