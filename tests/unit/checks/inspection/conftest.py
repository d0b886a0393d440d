"""FMUs that break their word."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.checks.inspection import FmuCheckResult
from orchestrator.core.operating_system import platforms
from orchestrator.export.codegen.compiler import library_command, run_compiler


@pytest.fixture
def spoil_of(tmp_path: Path) -> Callable[..., Path]:
    """Make an FMU with one text in the C sources or description of another one replaced."""

    def make(fmu: Path, file: str, old: str, new: str) -> Path:
        folder = tmp_path / "spoiled"
        with zipfile.ZipFile(fmu) as archive:
            archive.extractall(folder)
        text = (folder / file).read_text(encoding="utf-8")
        assert old in text
        (folder / file).write_text(text.replace(old, new), encoding="utf-8")
        (library,) = folder.rglob(f"*{platforms.here().suffix}")
        run_compiler(library_command("fmu.c", library), folder / "sources")
        target = tmp_path / "Spoiled.fmu"
        with zipfile.ZipFile(target, "w") as archive:
            for path in sorted(folder.rglob("*")):
                archive.write(path, path.relative_to(folder))
        return target

    return make


def failures(results: list[FmuCheckResult]) -> dict[tuple[str, str], str]:
    return {(r.interface, r.name): r.remark for r in results if r.outcome == "failed"}
