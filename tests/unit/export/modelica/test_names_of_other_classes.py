"""Names that reach into other classes, and those of predefined types: refused or right."""

from __future__ import annotations

import re
from typing import Any

import pytest

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.export.dae.explicit_ode import make_explicit
from orchestrator.export.modelica.flat.reader import read
from orchestrator.export.modelica.frontend import flatten_source

_NO_PACKAGE = """package P
  model A constant Real k = 2; Real y = 3; type T = Real; end A;
  record R constant Real k = 2; Real y; record S Real b; end S; end R;
  model B constant Real k = 2; equation assert(k > 0, ""); end B;
  model C extends A; end C;
end P;
"""
_MOVES = "'y', which is no constant; declare"


@pytest.mark.parametrize(
    ("body", "line", "message"),
    [
        ("Real x;\nequation x = P.A.k*time;", 8, rf"'P\.A\.k': 'k' stands in model A, .*{_MOVES}"),
        ("parameter Real x = .P.A.k;", 7, rf"'\.P\.A\.k': 'k' stands in model A, .*{_MOVES}"),
        ("import P.A;\nReal x = A.k;", 8, rf"'A\.k': 'k' stands in model A, .*{_MOVES}"),
        ("P.A.T x = time;", 7, rf"'P\.A\.T': 'T' stands in model A, .*{_MOVES}"),
        ("Real x = P.C.k;", 7, rf"'P\.C\.k': 'k' stands in model C, .*{_MOVES}"),
        ("Real x = P.R.k;", 7, rf"'P\.R\.k': 'k' stands in record R, .*{_MOVES}"),
        ("P.R.S s(b=1);", 7, rf"'P\.R\.S': 'S' stands in record R, .*{_MOVES}"),
        ("Real x = P.B.k;", 7, r"'k' stands in model B, which is no package and has an equation"),
        (
            (
                "function f input Real u; output Real y;\nalgorithm y := P.A.k*u; end f;"
                " Real x = f(time);"
            ),
            8,
            rf"'P\.A\.k': 'k' stands in model A, .*{_MOVES}",
        ),
    ],
)
def test_classes_that_are_no_packages(body: str, line: int, message: str) -> None:
    with pytest.raises(ModelicaError, match=rf"M\.mo:{line}: .*{message}"):
        flatten_source("M", f"{_NO_PACKAGE}model M {body} end M;", "M.mo")


def test_classes_that_are_like_packages_and_what_is_encapsulated(evaluate: Any) -> None:
    text = """package P model A constant Real k = 2; end A;
    model B Real y = 3; constant Real k = 5;
      encapsulated function f input Real u; output Real y; algorithm y := 2*u; end f; end B;
    class StateSelect Real x = 1; end StateSelect; end P;
    model M P.B b; P.StateSelect s; Real x = P.A.k + b.k; Real z = P.B.f(x); end M;"""
    values = evaluate(make_explicit(read(flatten_source("M", text))))
    assert (values["x"], values["z"], values["s.x"]) == (7.0, 14.0, 1.0)


@pytest.mark.parametrize(
    "text",
    [
        (
            "model A outer model K = W; K k;\nReal z = k.h; end A;"
            " model M inner model K = V; A a; end M;"
        ),
        (
            "model A outer W w; B b(\ny=w.h); end A; model M inner V w; A a; Real z = g(time);"
            " function f input Real u; input Real k = 1; output Real y = k*u; algorithm end f;"
            " function g = f(k=2); end M;"
        ),
    ],
)
def test_members_that_only_the_inner_class_has(text: str, wording) -> None:
    classes = "model W Real g; end W; model V extends W; Real h; end V; model B Real y; end B;"
    with wording.raises(ModelicaError):
        flatten_source("M", f"{classes} {text}", "M.mo")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("String", "class String Real x = 1; end String; String s;"),
        ("Boolean", "type Boolean = enumeration(a, b);"),
        ("Integer", "package Integer constant Real k = 2; end Integer;"),
        ("Real", "function Real input Boolean u; output Boolean y = u; algorithm end Real;"),
        ("String", "package P model String end String; model A end A; end P; P.A a;"),
        (
            "Real",
            (
                "Integer y = f(2); function f input Integer u; output Integer y; protected Integer"
                " Real; algorithm y := u; end f;"
            ),
        ),
    ],
)
def test_names_of_predefined_types(name: str, text: str) -> None:
    message = rf"M is not valid Modelica:\s+M\.mo:2: '{name}' is the name of a predefined type;"
    with pytest.raises(ModelicaError, match=re.compile(message)):
        flatten_source("M", f"model M\n{text} end M;", "M.mo")
