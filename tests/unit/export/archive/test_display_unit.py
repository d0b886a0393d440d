"""A displayUnit never stops a build: one that does not fit is left out and said."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from orchestrator.export import Recipe
from orchestrator.export.archive.description import describe
from orchestrator.export.archive.model_description import write
from orchestrator.export.codegen.layout import Layout
from orchestrator.export.dae.explicit_ode import make_explicit
from orchestrator.export.modelica.flat.reader import read
from orchestrator.export.modelica.frontend import flatten, flatten_source
from orchestrator.export.modelica.source.text import Experiment


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
@pytest.mark.parametrize(
    ("unit", "display", "kept"),
    [
        ("m", "mm", True),
        ("K", "degC", True),
        ("m", "kg", False),
        ("rad", "no unit", False),
        ("N", "N/m/s", False),
    ],
)
def test_a_display_unit_that_does_not_fit(
    fmi: str, unit: str, display: str, kept: bool, caplog: pytest.LogCaptureFixture
) -> None:
    text = (
        f'model A parameter Real k(unit="{unit}", displayUnit="{display}") = 1; Real x(start=1,'
        ' fixed=true); output Real y(unit="s") = 2*k*x; equation der(x) = -k*x; end A;'
    )
    layout = Layout(make_explicit(read(flatten_source("A", text))))
    recipe = Recipe("A", (), "A").completed(Experiment())
    root = etree.fromstring(write(describe(layout, recipe, fmi, "guid"), fmi))
    assert (display in etree.tostring(root).decode()) == kept
    assert ("is left out" in caplog.text) == (not kept)


def test_a_display_unit_in_a_library(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "P").mkdir()
    (tmp_path / "P" / "package.mo").write_text("package P end P;")
    (tmp_path / "P" / "A.mo").write_text("within P; model A B b; end A;")
    text = 'within P;\nmodel B\n  Real x(unit="m", displayUnit="no unit") = time;\nend B;'
    (tmp_path / "P" / "B.mo").write_text(text)
    flat = flatten("P.A", tmp_path)
    assert flat.at("b.x").endswith(f"{tmp_path / 'P' / 'B.mo'}:3")
    assert f"{tmp_path / 'P' / 'B.mo'}:3: the displayUnit of 'x' is left out" in caplog.text
    assert (tmp_path / "P" / "B.mo").read_text() == text
