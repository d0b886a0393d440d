"""What is found of files, and why they are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.core.diagnostics import SspError
from orchestrator.core.ssp import diagnose, read_ssd


def found(path: Path) -> str:
    """What is found, of a file that is read."""
    system, diagnostics = diagnose(path)
    assert system is not None, diagnostics
    return "\n".join(f"{diagnostic.code} {diagnostic}" for diagnostic in diagnostics)


def refusal(path: Path) -> str:
    with pytest.raises(SspError) as caught:
        read_ssd(path)
    return str(caught.value)
