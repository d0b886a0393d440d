"""The codes of what the reader of SSP files finds."""

from __future__ import annotations

from orchestrator.checking.code import Code
from orchestrator.ssp.codes import Code as ReaderCode

#: What is said of a code beyond its meaning, by its first digit.
_KINDS = {
    "0": "The file, the archive or what it refers to cannot be read.",
    "1": "The file is not as the standard says. An error leaves open what is meant; a warning says"
    " how it is read all the same.",
    "2": "The standard allows it, and Softdock does not support it.",
    "3": "It is read, but has no place in a system that runs: nothing follows from it.",
}

CODES: tuple[Code, ...] = tuple(
    Code(str(code), None, code.meaning, _KINDS[str(code)[3]]) for code in ReaderCode
)
