"""Builds and runs every model of the corpus; conftest.py prints how many passed."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from fmpy import simulate_fmu

from orchestrator.errors import ModelicaError
from orchestrator.export import Solver, build_model

CASES = runpy.run_path(str(Path(__file__).with_name("models.py")))["CASES"]


def _write(case: Any, folder: Path) -> Path:
    lines = [case.before, "model M", case.body, "end M;"]
    folder.mkdir()
    (folder / "M.mo").write_text("\n".join(lines), encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", CASES)
def test_model(name: str, tmp_path: Path, record_property: Any) -> None:
    case = CASES[name]
    record_property("corpus", "refused" if case.refused else "passed")
    root = _write(case, tmp_path / "root")
    if case.refused:
        with pytest.raises(ModelicaError, match=re.compile(case.refused, re.DOTALL)):
            build_model("M", root, tmp_path)
        return
    fmu = build_model("M", root, tmp_path, solver=Solver("rk4", 2e-3)).path
    result = simulate_fmu(
        str(fmu), stop_time=1.0, step_size=0.1, output_interval=0.1, output=list(case.expected)
    )
    for variable, value in case.expected.items():
        assert result[variable][-1] == pytest.approx(value, rel=1e-9, abs=1e-9), variable
