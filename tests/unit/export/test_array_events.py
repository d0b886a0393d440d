"""Elements of arrays: changed at events, chosen by an index that is known when the model runs."""

import pytest

from orchestrator import simulate
from orchestrator.core.diagnostics import ModelicaError, StepError
from orchestrator.core.simunits import fmu
from orchestrator.core.system import System
from orchestrator.export import build_model
from orchestrator.export.modelica.source.changed_sources import (
    with_listed_ranges,
    with_whole_arrays,
)

CLAUSES = """model Clauses
  Real[3] v(start = {1, 2, 3}, each fixed = true);
  discrete Real d[2](each start = 0, each fixed = true), e[1](each start = 0, each fixed = true);
  Real y = v[2] + 100 * v[3];
equation
  for i in 1:3 loop der(v[i]) = if time < 2 then -i else 0; end for;
  when time > 0.5 then
    d[1] = if time > 0.7 then 1 else
      2;
    reinit(v[2], 10);
    e[1] = d[1] + pre(e[1]);
    d[2] = if v[1] > 0 then if v[1] > 10 then 5 else 6 else 7;
    reinit(v[3], v[1] + 1);
  elsewhen time > 0.75 then
    d[2] = 9;
    e[1] = 4;
    d[1] = pre(d[1]);
  end when;
end Clauses;
"""
WHOLE = """model Clauses
  Real[3] v(start = {1, 2, 3}, each fixed = true);
  discrete Real d[2](each start = 0, each fixed = true), e[1](each start = 0, each fixed = true);
  Real y = v[2] + 100 * v[3];
equation
  for i in 1:3 loop der(v[i]) = if time < 2 then -i else 0; end for;
  when time > 0.5 then
    d = {if time > 0.7 then 1 else
      2, if v[1] > 0 then if v[1] > 10 then 5 else 6 else 7};
    reinit(v, {v[1], 10, v[1] + 1});
    e = {d[1] + pre(e[1])};


  elsewhen time > 0.75 then
    d = {pre(d[1]), 9};
    e = {4};

  end when;
end Clauses;
"""
CHOSEN = """model Chosen
  function placed
    input Integer k;
    input Real v;
    output Real y[3];
  algorithm
    y := {0, 0, 0};
    y[k] := v;
  end placed;
  function interpolated
    input Real x;
    input Real xs[:];
    input Real ys[size(xs, 1)];
    output Real y;
  protected
    Integer k;
  algorithm
    k := 1;
    for i in 2:size(xs, 1) - 1 loop
      if x > xs[i] then k := i; end if;
    end for;
    y := ys[k] + (ys[k + 1] - ys[k]) * (x - xs[k]) / (xs[k + 1] - xs[k]);
  end interpolated;
  parameter Integer row = 2;
  parameter Real m[2, 3] = {{1, 2, 3}, {4, 5, 6}};
  parameter Real xs[4] = {0, 1, 2, 3}, ys[4] = {0, 10, 15, 16};
  Integer k(start = 1, fixed = true);
  Real line[3] = m[row, :];
  Real p[3];
  output Real of_both = m[row, k];
  output Real of_line = line[3];
  output Real set = p[2];
  output Real table = interpolated(2 * time, xs, ys);
equation
  p = placed(row, time);
  when sample(0.3, 0.3) then
    k = pre(k) + 1;
  end when;
end Chosen;
"""
MASSES = """model Masses
  model Mass
    parameter Real m = 1;
    Real v(start = 0, fixed = true);
  equation
    m * der(v) = 1;
  end Mass;
  parameter Integer n = 3;
  Mass b[n](m = 1:n);
  output Real y = b[3].v;
end Masses;
"""


def built(text, folder):
    name = text.split()[1]
    (folder / f"{name}.mo").write_text(text)
    return System("s").add("m", fmu(build_model(name, folder / f"{name}.mo", folder).path))


def test_elements_become_whole_arrays_and_lines_stay():
    changed = [line.rstrip() for line in with_whole_arrays(CLAUSES).splitlines()]
    assert changed == WHOLE.splitlines()
    assert with_whole_arrays(WHOLE) == WHOLE
    assert with_whole_arrays(CHOSEN) == CHOSEN


@pytest.mark.parametrize("clause", ["d[1] = 1; d[1] = 2;", "d[3] = 1;", "d[i] = 1;", "c.d[1] = 1;"])
def test_what_cannot_be_said_of_the_whole_stays(clause):
    text = f"model M discrete Real d[2]; equation when b then {clause} end when; end M;"
    assert with_whole_arrays(text) == text


def test_elements_are_set_and_states_put_back_at_events(tmp_path):
    system = built(CLAUSES, tmp_path)
    names = ("m.v[2]", "m.v[3]", "m.d[1]", "m.d[2]", "m.e[1]")
    result = simulate(system, step=0.1, stop=1.0, record=names)
    assert [result[name][-1] for name in names] == pytest.approx([9.0, 0.0, 2.0, 9.0, 4.0])
    assert [result[name][6] for name in names] == pytest.approx([9.8, 1.2, 2.0, 6.0, 2.0])


def test_an_index_may_be_a_parameter_a_variable_or_computed(tmp_path, wording):
    system = built(CHOSEN, tmp_path)
    result = simulate(system, step=0.1, stop=0.8)
    chosen = [result[f"m.{name}"][-1] for name in ("of_both", "of_line", "set")]
    assert chosen == pytest.approx([6.0, 6.0, 0.8])
    times = result.time
    right = [min(10 * x, 5 + 5 * x, 13 + x) for x in 2 * times]
    assert result["m.table"] == pytest.approx(right, abs=1e-12)
    first = simulate(system.set("m.row", 1), step=0.1, stop=0.8)
    assert [first[f"m.{name}"][-1] for name in ("of_both", "of_line", "set")] == [3.0, 3.0, 0.0]
    with wording.raises(StepError):
        simulate(system, step=0.1, stop=1.0)  # k = 4


def test_a_range_is_a_modifier_of_component_arrays(tmp_path):
    result = simulate(built(MASSES, tmp_path), step=0.1, stop=1.0)
    assert result["m.y"][-1] == pytest.approx(1 / 3)
    assert with_listed_ranges("A a(x = 1:n, y(z=2:3)); for i in 1:3") == (
        "A a(x = {i_ for i_ in 1:n}, y(z={i_ for i_ in 2:3})); for i in 1:3"
    )


def test_what_a_loop_of_a_clause_sets_is_refused_with_its_construct(tmp_path, wording):
    text = CHOSEN.replace("k = pre(k) + 1;", "for i in 1:2 loop q[i] = i; end for;")
    text = text.replace("  Real p[3];", "  Real p[3]; discrete Real q[2];")
    with wording.raises(ModelicaError):
        built(text, tmp_path)
