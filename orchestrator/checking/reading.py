"""The codes of what the reader of SSP files finds."""

from __future__ import annotations

from orchestrator.checking.code import Code
from orchestrator.ssp.codes import Code as ReaderCode

CODES: tuple[Code, ...] = tuple(
    Code(str(code), None, code.meaning, "Told by the reader of SSP files.") for code in ReaderCode
)
