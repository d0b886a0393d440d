"""A plant whose archives have the libraries of all platforms."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from orchestrator.export import build_model
from orchestrator.export.recipe import PLATFORMS

PLANT = """model Plant "events, sines, an implicit equation"
  input Real u;
  output Real y;
  Real x(start=1, fixed=true), v(start=2, fixed=true), z(start=0.5);
  Integer n(start=0);
equation
  der(x) = v;
  der(v) = -30*sin(x) + u;
  z^3 + z = x;
  when x < -0.2 then n = pre(n) + 1; reinit(v, -0.9*pre(v)); end when;
  y = z + n;
end Plant;
"""


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("source") / "Plant.mo"
    file.write_text(PLANT, encoding="utf-8")
    return file


@pytest.fixture(scope="session")
def plant(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """By version of FMI. Zig makes the C library of Windows once on a machine: a minute."""
    pytest.importorskip("ziglang", reason="ziglang, the extra 'cross', is not installed")
    names = [each.long_name for each in PLATFORMS]
    output = tmp_path_factory.mktemp("built")
    return build_model(None, source, output, fmi=("2.0", "3.0"), platforms=names).files
