"""What every solver gives the communication step: internal steps, states inside them, restarts."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compile_cache import compiled

from orchestrator.export.codegen.compiler import compiler_path

SWING = """model Swing "undamped, with a push that depends on time"
  output Real x(start=1, fixed=true);
  output Real v(start=0, fixed=true);
equation
  der(x) = v;
  der(v) = -x + time;
end Swing;
"""


def internal_steps(
    fmu: Path, folder: Path, interruption: float = -1.0, libraries: tuple[str, ...] = ()
) -> np.ndarray:
    """Rows of beginning, end, time, x, v over a communication step of 1 s."""
    with zipfile.ZipFile(fmu) as archive:
        archive.extractall(folder)
    shutil.copy(Path(__file__).with_name("solver_contract.c"), folder / "sources")
    strict = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined,address"]
    target = ["-o", str(folder / "run"), "solver_contract.c"]
    compiled(
        [compiler_path(), *strict, *target, *libraries, "-lm"], folder / "sources"
    ).check_returncode()
    command = [folder / "run", "1.0", repr(interruption)]
    printed = subprocess.run(  # noqa: S603 - our own program
        command, check=True, capture_output=True, text=True
    ).stdout
    return np.array([[float(word) for word in line.split()] for line in printed.splitlines()])


def largest_error(rows: np.ndarray) -> float:
    t, x, v = rows[:, 2], rows[:, 3], rows[:, 4]
    exact = np.cos(t) - np.sin(t) + t, -np.sin(t) - np.cos(t) + 1
    return float(max(np.abs(x - exact[0]).max(), np.abs(v - exact[1]).max()))


@pytest.mark.slow
@pytest.mark.parametrize(("method", "order"), [("rk4", 4), ("verlet", 2), ("dopri5", 5)])
def test_order_inside_the_steps(build_text: Any, tmp_path: Path, method: str, order: int) -> None:
    errors = []
    for index, step in enumerate((0.25, 0.125)):
        options: dict[str, Any] = {"tolerance": 1e-2} if method == "dopri5" else {}
        folder = tmp_path / str(index)
        folder.mkdir()
        name = f"Swing{index}"
        fmu = build_text(name, SWING.replace("Swing", name), step, method, **options)
        errors.append(largest_error(internal_steps(fmu, folder)))
    assert 2 ** (order - 0.5) < errors[0] / errors[1] < 2 ** (order + 0.7)


def test_interrupted_grid(build_text: Any, tmp_path: Path) -> None:
    fmu = build_text("Swing", SWING, 0.125, "rk4")
    whole = internal_steps(fmu, tmp_path / "a")
    rows = internal_steps(fmu, tmp_path / "b", interruption=0.3)
    begins = list(dict.fromkeys(rows[:, 0]))
    assert begins == [0.0, 0.125, 0.25, 0.3, 0.375, 0.5, 0.625, 0.75, 0.875]
    assert rows[-1, 1] == 1.0
    assert 0 < np.abs(rows[-1, 3:] - whole[-1, 3:]).max() < 2e-5
    assert largest_error(rows) < 2e-5


def test_error_control_after_an_interruption(build_text: Any, tmp_path: Path) -> None:
    fmu = build_text("Swing", SWING, method="dopri5", tolerance=1e-9)
    rows = internal_steps(fmu, tmp_path / "a", interruption=0.3)
    assert 0.3 in rows[:, 0]
    assert largest_error(rows) < 2e-8


def test_history_ends_at_an_interruption(
    build_text: Any, tmp_path: Path, sundials: tuple[str, ...]
) -> None:
    fmu = build_text("Swing", SWING, method="cvode", tolerance=1e-9)
    whole = internal_steps(fmu, tmp_path / "a", libraries=sundials)
    rows = internal_steps(fmu, tmp_path / "b", interruption=0.3, libraries=sundials)
    assert 0.3 in rows[:, 0]
    assert largest_error(whole) < 1e-6
    assert largest_error(rows) < 1e-6
    first = rows[rows[:, 0] == 0.3][0]
    assert first[1] - first[0] < 1e-3  # a new start takes a small step
