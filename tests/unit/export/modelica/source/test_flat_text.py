"""Flat classes, as OpenModelica prints them, against closed forms."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.export.dae.explicit_ode import ExplicitOde, make_explicit
from orchestrator.export.modelica.flat.reader import read
from orchestrator.export.modelica.front_end_process import instantiated
from orchestrator.export.modelica.frontend import flatten_flat
from orchestrator.export.modelica.source.flat_text import plain_text

# What `instantiateModel` prints: names with dots and indices, elements of arrays one by one.
_INSTANTIATED = """function Lib.gain "A gain"
  input Real u[2];
  input Real k;
  output Real y;
algorithm
  y := k * (u[1] + 2.0 * u[2]);
end Lib.gain;

class Lib.Circuit "an RC circuit"
  parameter Real resistor.R(quantity = "Resistance", unit = "Ohm", start = 1.0) = 2.0 "R of R";
  Real resistor.v(quantity = "ElectricPotential", unit = "V") "Drop";
  parameter enumeration(NoInit, Fixed) init = Lib.Init.Fixed;
  protected Real u[1](start = 1.0, fixed = true);
  protected Real u[2](start = 2.0, fixed = true);
  output Real y.a[1].b;
  Real $cse1 = 2.0 * time;
  Integer n(start = 0, fixed = true);
equation
  resistor.v = u[1] * resistor.R;
  der(u[1]) = -u[1];
  der(u[2]) = -2.0 * u[2];
  y.a[1].b = Lib.gain(u, 3.0) + (if init == Lib.Init.Fixed then 1.0 else 0.0);
  when u[1] < 0.5 then
    n = 1 + pre(n);
  end when;
  annotation(experiment(StopTime = 2.0));
end Lib.Circuit;
"""

# What `--baseModelica` prints (MCP-0031).
_BASE = """//! base 0.1.0
package 'Lib.Circuit'
  function 'Lib.gain' "A gain"
    input Real[2] 'u';
    input Real 'k';
    output Real 'y';
  algorithm
    'y' := 'k' * ('u'[1] + 2.0 * 'u'[2]);
  end 'Lib.gain';

  type 'Lib.Init' = enumeration('NoInit', 'Fixed');

  record 'Lib.Pair'
    Real 'a';
    Real 'b';
  end 'Lib.Pair';

  model 'Lib.Circuit' "an RC circuit"
    parameter Real 'resistor.R'(unit = "Ohm") = 2.0 "R of R";
    Real 'resistor.v'(unit = "V") "Drop";
    parameter 'Lib.Init' 'init' = 'Lib.Init'.'Fixed';
    Real 'u'[2](start = {1.0, 2.0}, each fixed = true);
    output Real 'y.a[1].b';
    'Lib.Pair' 'pair';
  equation
    'resistor.v' = 'u'[1] * 'resistor.R';
    der('u'[1]) = -'u'[1];
    der('u'[2]) = -2.0 * 'u'[2];
    'pair'.'a' = time;
    'pair'.'b' = 2.0 * 'pair'.'a';
    'y.a[1].b' = 'Lib.gain'('u', 3.0) + (if 'init' == 'Lib.Init'.'Fixed' then 1.0 else 0.0);
    annotation(experiment(StopTime = 2.0));
  end 'Lib.Circuit';
end 'Lib.Circuit';
"""


def _explicit(text: str) -> ExplicitOde:
    return make_explicit(read(flatten_flat(plain_text(text), "flat.mo")))


@pytest.mark.parametrize("text", [_INSTANTIATED, _BASE])
def test_names_and_values_are_those_of_the_model(
    text: str, evaluate: Callable[..., dict[str, float]]
) -> None:
    ode = _explicit(text)
    assert ode.name.endswith("Lib.Circuit") or ode.name == "Lib.Circuit"
    assert [v.name for v in ode.states] == ["u[1]", "u[2]"]
    assert ode.description == "an RC circuit"
    (resistance,) = [v for v in ode.parameters if v.name == "resistor.R"]
    assert (resistance.unit, resistance.description) == ("Ohm", "R of R")
    values = evaluate(ode, **{"u[1]": 0.25, "u[2]": 0.75})
    assert values["der(u[1])"] == -0.25
    assert values["der(u[2])"] == -1.5
    assert values["resistor.v"] == 0.5
    assert values["y.a[1].b"] == 3.0 * (0.25 + 1.5) + 1.0


def test_what_omc_protects_is_protected_alone() -> None:
    ode = _explicit(_INSTANTIATED)
    assert [v.name for v in ode.states if not v.protected] == []
    assert [v.name for v in ode.locals] == ["resistor.v", "$cse1"]
    assert [v.name for v in ode.outputs] == ["y.a[1].b"]


def test_text_in_quotes_as_a_session_prints_it() -> None:
    quoted = '"' + _INSTANTIATED.replace("\\", "\\\\").replace('"', '\\"') + '"\n'
    assert plain_text(quoted).title == "Lib.Circuit"
    assert [v.name for v in _explicit(quoted).states] == ["u[1]", "u[2]"]


def test_whole_arrays_keep_the_order_of_their_elements(
    evaluate: Callable[..., dict[str, float]],
) -> None:
    lines = [f"  Real x[{i}] = {i}.0;" for i in range(1, 13)]
    text = "\n".join(["class A", *lines, "  output Real y[1]; output Real y[2];",
                      "equation", "  y = {x * x, sum(x)};", "end A;"])  # fmt: skip
    values = evaluate(_explicit(text))
    assert (values["y[1]"], values["y[2]"]) == (650.0, 78.0)


def test_an_array_of_one_declaration_is_no_element() -> None:
    declared = "Real a.x[3](each start = 1.0, each fixed = true)"
    text = f"class A\n  {declared};\nequation\n  der(a.x) = -a.x;\nend A;"
    assert [v.name for v in _explicit(text).states] == ["a.x[1]", "a.x[2]", "a.x[3]"]


def test_errors_have_names_and_lines_of_the_flat_class(wording) -> None:
    text = "class Lib.A\n  Real a.x;\n  Real a.b[1].y;\nequation\n  a.x = time;\nend Lib.A;"
    with wording.raises(ModelicaError):
        _explicit(text)
    with wording.raises(ModelicaError):
        _explicit(text.replace("= time", "= nothing.here"))


def test_an_item_of_two_enumerations_is_refused(wording) -> None:
    text = (
        "class A\n  enumeration(a, b) e;\n  enumeration(b, a) f = S.a;\nequation\n"
        "  e = if time > 1.0 then T.a else T.b;\nend A;"
    )
    with wording.raises(ModelicaError):
        plain_text(text)


def test_an_item_belongs_to_the_enumeration_that_it_is_compared_with(
    evaluate: Callable[..., dict[str, float]],
) -> None:
    text = (
        "class A\n  parameter enumeration(a, b) e = T.b;\n  parameter enumeration(b, a) f = S.b;\n"
        "  Real y;\nequation\n  y = (if e == T.b then 1 else 2) + (if f == S.a then 10 else 20);\n"
        "end A;"
    )
    assert evaluate(_explicit(text))["y"] == 21.0


@pytest.mark.parametrize(
    ("declared", "names", "value"),
    [
        ("Real p[E.A] = 3; parameter Real p[E.B] = 4", ["p[1]", "p[2]"], "p[E.A] + 2*p[E.B]"),
        ("Real p[false] = 3; parameter Real p[true] = 4", ["p[1]", "p[2]"], "p[false] + 2*p[true]"),
        (
            "Real p[1,E.A] = 3; parameter Real p[1,E.B] = 4",
            ["p[1,1]", "p[1,2]"],
            "p[1,E.A] + 2*p[1,E.B]",
        ),
        (
            "Real m.p[E.A].k = 3; parameter Real m.p[E.B].k = 4",
            ["m.p[1].k", "m.p[2].k"],
            "m.p[E.A].k + 2*m.p[E.B].k",
        ),
    ],
)
def test_indices_that_are_items_become_numbers(
    declared: str, names: list[str], value: str, evaluate: Callable[..., dict[str, float]]
) -> None:
    ode = _explicit(f"class A\n  parameter {declared};\n  Real y = {value};\nend A;")
    assert [v.name for v in ode.parameters] == names
    assert evaluate(ode)["y"] == pytest.approx(11.0)


def test_a_type_inside_of_the_class_is_known(
    evaluate: Callable[..., dict[str, float]],
) -> None:
    text = (
        "class A\n  type E = enumeration(A, B);\n  parameter Real p[E.B] = 3;\n"
        "  parameter Real p[E.A] = 4;\n  Real y = p[E.B] + 2*p[E.A];\nend A;"
    )
    ode = _explicit(text)
    assert [v.name for v in ode.parameters] == ["p[2]", "p[1]"]
    assert evaluate(ode)["y"] == 11.0


@pytest.mark.parametrize(
    "text", ["", "hello", '"class"', "class", "package P end P;" * 2, "package P model A end"]
)
def test_what_is_no_flat_class_is_one_error(text: str) -> None:
    with pytest.raises(ModelicaError):
        _explicit(text)


def test_omc_is_asked_where_it_is_installed(tmp_path: Path, softdock: Any, wording) -> None:
    file = tmp_path / "Decay.mo"
    file.write_text(
        "model Decay output Real x(start=1, fixed=true); equation der(x) = -x; end Decay;"
    )
    if shutil.which("omc") is None:
        with wording.raises(ModelicaError):
            instantiated("Decay", file, ())
        pytest.skip("omc, the compiler of OpenModelica, is not installed")
    code, _, err = softdock("build", str(file), "--front-end", "omc")
    assert (code, err) == (0, "")


def test_omc_gets_all_roots_and_its_words_are_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wording
) -> None:
    """With a program in its place, as it is rarely installed."""
    root, tools = tmp_path / "root", tmp_path / "bin"
    (root / "Lib").mkdir(parents=True)
    tools.mkdir()
    (root / "Lib" / "package.mo").write_text("package Lib end Lib;")
    (root / "Lib" / "A.mo").write_text("within Lib; model A end A;")
    omc = tools / "omc"
    omc.write_text(f'#!/bin/sh\ncp "$1" {tmp_path}/asked.mos\necho class Lib.A > flat.mo\n')
    omc.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{Path('/bin')}:{Path('/usr/bin')}")
    asked_for = ("Lib.A", root / "Lib" / "A.mo", (root,))
    assert instantiated(*asked_for) == "class Lib.A\n"
    asked = (tmp_path / "asked.mos").read_text()
    assert f'loadFile("{root}/Lib/package.mo");' in asked
    assert "instantiateModel(Lib.A)" in asked
    omc.write_text("#!/bin/sh\necho Error: no such class\n")
    with wording.raises(ModelicaError):
        instantiated(*asked_for)


def test_the_command_builds_flat_files(
    tmp_path: Path, softdock: Any, open_fmu: Callable[..., Any]
) -> None:
    file = tmp_path / "circuit.mo"
    file.write_text(_INSTANTIATED)
    code, out, err = softdock("build", str(file), "--flat", "--output", str(tmp_path / "out"))
    assert (code, err) == (0, ""), out
    circuit = open_fmu(tmp_path / "out" / "Circuit.fmu").initialize()
    assert float(circuit.description.defaultExperiment.stopTime) == 2.0
    circuit.step(1.0)
    assert circuit.get("y.a[1].b") == [
        pytest.approx(3 * (math.exp(-1) + 4 * math.exp(-2)) + 1, rel=1e-7)
    ]
    code, _, err = softdock("build", str(file), "--flat", "--model", "A")
    assert code != 0
    assert "--flat takes flat classes in .mo files, without --model" in err
