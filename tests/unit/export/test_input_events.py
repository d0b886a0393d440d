"""Events of inputs of a model, and elements of fields of records."""

import pytest

from orchestrator import simulate
from orchestrator.core.diagnostics import ModelicaError
from orchestrator.core.simunits import Block, Output, block, fmu
from orchestrator.core.system import System
from orchestrator.export import build_model
from orchestrator.export.modelica.source.changed_sources import with_copied_inputs

MODEL = """
model Counted "Counts changes of an Integer and rising edges of a Boolean; 'change(c)' in a text"
  input Integer c(start=0);
  input Boolean u(start=false);
  discrete output Integer changes(start=0, fixed=true);
  discrete output Integer edges(start=0, fixed=true);
initial equation
  // change(c) in a comment
equation
  when change(c) then
    changes = pre(changes) + 1;
  end when;
  when edge(u) then
    edges = pre(edges) + 1;
  end when;
end Counted;
"""
RECORDS = """
package P
  record S
    Real x[1];
  end S;
  function f
    input Real t;
    output S s;
  algorithm
    s.x[1] := 2*t;
  end f;
  model M
    S s = f(time);
    output Real y;
  equation
    y = s.x[1];
  end M;
end P;
"""


class Source(Block):
    c: int = Output(depends_on=())
    u: bool = Output(depends_on=())

    def step(self, t, h):
        count = round((t + h) / 0.1)
        self.c = count // 2
        self.u = count % 3 == 2


def test_change_and_edge_of_inputs(tmp_path):
    (tmp_path / "Counted.mo").write_text(MODEL)
    built = build_model("Counted", tmp_path / "Counted.mo", tmp_path / "out").path
    system = (
        System("s")
        .add("source", block(Source))
        .add("it", fmu(built))
        .connect("source.c", "it.c")
        .connect("source.u", "it.u")
    )
    result = simulate(system, step="100 ms", stop="1 s", algorithm="gauss-seidel")
    # 0 0 1 1 2 2 3 3 4 4 5, of which each step takes what the source has at its end
    assert result["it.changes"].tolist()[-1] == 5
    assert result["it.edges"].tolist()[-1] == 3


def test_what_is_copied():
    text = with_copied_inputs(MODEL, "Counted")
    assert text.count("\n") == MODEL.count("\n")
    assert "'change(c)' in a text" in text
    assert "// change(c) in a comment" in text
    assert "when change(c_at_events) then" in text
    assert "when edge(u_at_events) then" in text
    assert "pre(changes) + 1" in text
    assert "protected Integer c_at_events = c; Boolean u_at_events = u; initial equation" in text
    assert with_copied_inputs(MODEL, "Other") == MODEL


def test_an_input_that_is_inherited_is_refused(tmp_path, wording):
    (tmp_path / "A.mo").write_text(
        "package A\n partial model B input Integer c(start=0); end B;\n"
        " model M extends B; discrete output Integer n(start=0, fixed=true);\n"
        " equation when change(c) then n = pre(n) + 1; end when; end M;\nend A;\n"
    )
    with wording.raises(ModelicaError):
        build_model("A.M", tmp_path / "A.mo", tmp_path / "out")


def test_an_element_of_a_field_is_assigned(tmp_path):
    (tmp_path / "P.mo").write_text(RECORDS)
    built = build_model("P.M", tmp_path / "P.mo", tmp_path / "out").path
    result = simulate(System("s").add("m", fmu(built)), step="1 s", stop="1 s")
    assert result["m.y"].tolist()[-1] == pytest.approx(2.0)
