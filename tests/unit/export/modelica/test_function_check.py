"""Functions and constants of the flat model are those that the sources mean, or are refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.export.modelica import frontend, function_check
from orchestrator.export.modelica.flat.model import LOST
from orchestrator.export.modelica.front_end_source import FrontEndSource
from orchestrator.export.modelica.frontend import flatten_source

Json = Any

#: No class is modified or redeclared, so that the front end reads this as it is.
TEXT = """package P
  constant Real k = 2;
  constant Real t[3] = {1, 2, 3*k};
  record R Real a = 1; Real b; end R;
  type E = enumeration(low, high);
  function g input Real u; output Real y = u + k; algorithm y := y + 1; end g;
  function h input Real u; output Real y = u + k; algorithm y := y + 1; end h;
  function m input Real u; output Real y[2, 3]; algorithm y := [u, 2, 3; 4, 5, u]; end m;
  function two input Real u; input Real v = 3*k; output Real a; output Real b;
    algorithm a := u; b := v; end two;
  function f
    input Real u; input R r; input Real c = k*2; input E e = E.low;
    output Real y;
  protected
    Real z = k + c; Real v[3]; Real p; Real q;
  algorithm
    v := t;
    for i in 1:3 loop v[i] := v[i] + u*i^2; end for;
    if u > 1 and not u < 2 then z := 1; elseif u >= 7 then z := 3; else z := 4; end if;
    (p, q) := two(m(u)[1, 2]);
    y := g(u) + sum(v) - z*r.a + sqrt(abs(u)) + size(v, 1) + v[end] + sum({i*u for i in 1:3})
      + m(u)[2, 3] + sum((m(u))[:, 1]) + max(u, -2) + (if e == E.high then p else q) + t[2];
  end f;
  partial function shape input Real u; output Real y; end shape;
  function square extends shape; input Real w = k; algorithm y := w*u^2; end square;
  function twice input shape f; input Real u; output Real y; algorithm y := f(u) + f(2*u);
    end twice;
end P;
model M
  P.R r(b=P.k);
  Real y = P.f(time, r);
  Real z = P.twice(function P.square(w=3), time) + P.twice(P.square, 2);
  Real a, b;
  Real e = P.m(time)[2, 1];
  Real d[2];
equation
  (a, b) = P.two(v=time, u=2);
  for i in 1:2 loop d[i] = P.m(time)[3 - i, i + 1]; end for;
end M;
"""


def literals(tree: Json) -> Iterator[tuple[str, Json]]:
    """All nodes of a tree that can be changed, with what is in them."""
    if isinstance(tree, list):
        for each in tree:
            yield from literals(each)
    elif isinstance(tree, dict):
        for tag, body in tree.items():
            if tag in {"span", "effective_type", "description", "min", "max"}:
                continue
            if tag in {"Literal", "VarRef", "FunctionCall", "Binary", "For", "BuiltinCall"}:
                yield tag, body
            yield from literals(body)


_OTHERS = {"Add": "Sub", "Sub": "Add", "Mul": "Div", "Gt": "Ge", "Ge": "Gt", "And": "Or"}


def changed(tag: str, body: Json) -> bool:
    """Change a node in place; False if it has nothing that can be changed."""
    if tag == "Literal":
        kind, value = next(iter(body["value"].items()))
        if kind not in {"Integer", "Real"}:
            return False
        body["value"] = {kind: value + 1}
    elif tag == "VarRef":
        body["name"]["name"] += "_other"
    elif tag == "FunctionCall":
        named = body.get("name") or body["comp"]
        if named["name"] not in {"P.g", "g"}:
            return False
        named["name"] = "P.h_other"
    elif tag == "Binary":
        body["op"] = _OTHERS.get(body["op"], "Add")
    elif tag == "BuiltinCall":
        body["function"] = "Min" if body["function"] == "Max" else "Max"
    else:
        body["equations"] = []
    return True


def doctored(monkeypatch: pytest.MonkeyPatch, change: Callable[[Json], object]) -> None:
    """Let the front end answer with something else."""
    load = FrontEndSource.load

    def loaded(source: FrontEndSource) -> Json:
        answer = copy.deepcopy(load(source))
        change(answer["flat"])
        return answer

    monkeypatch.setattr(FrontEndSource, "load", loaded)


def _literal(node: Json, value: int) -> None:
    node["Literal"]["value"] = {"Integer": value}


def _constant_of_g(tree: Json) -> None:
    for name, function in tree["functions"].items():
        if name.endswith(("P.g", "_g")):
            _literal(function["outputs"][0]["default"]["Binary"]["rhs"], 7)


def _default_of_two(tree: Json) -> None:
    for name, function in tree["functions"].items():
        if name.endswith("two"):
            _literal(function["inputs"][1]["default"]["Binary"]["lhs"], 8)


def _value_of_r(tree: Json) -> None:
    _literal(tree["variables"]["r.b"]["binding"], 9)


def _arguments(tree: Json) -> None:
    tree["equations"][0]["residual"]["Binary"]["rhs"]["FunctionCall"]["args"].reverse()


def _function_called(tree: Json) -> None:
    call = tree["variables"]["y"]["binding"]["FunctionCall"]
    call["name"]["name"] = next(name for name in tree["functions"] if name.endswith("two"))


def _statement(tree: Json) -> None:
    for name, function in tree["functions"].items():
        if name.endswith(("P.f", "_f")):
            del function["body"][0]


def _element(tree: Json) -> None:
    tree["variables"]["e"]["binding"]["Index"]["subscripts"][0]["Index"]["value"] = 1


def _element_in_a_function(tree: Json) -> None:
    for name, function in tree["functions"].items():
        if name.endswith(("P.f", "_f")):
            call = next(s for s in function["body"] if "FunctionCall" in s)["FunctionCall"]
            call["args"][0]["Index"]["subscripts"].reverse()


@pytest.mark.parametrize(
    "change",
    [
        _constant_of_g,
        _default_of_two,
        _value_of_r,
        _arguments,
        _function_called,
        _element,
        _element_in_a_function,
        _statement,
    ],
)
def test_a_difference_is_refused_with_its_place_and_both_meanings(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[Json], object], wording
) -> None:
    doctored(monkeypatch, change)
    with wording.raises(ModelicaError) as caught:
        flatten_source("M", TEXT, "M.mo")
    assert LOST in str(caught.value)


def test_what_the_front_end_answers_is_taken_where_it_is_right() -> None:
    tree = flatten_source("M", TEXT).tree
    assert "P.f" in tree["functions"]


def test_each_change_of_a_function_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A number, name, operator or call that differs, in each place of each function."""
    functions = flatten_source("M", TEXT).tree["functions"]
    nodes = [name for name in functions for _ in literals(functions[name])]
    assert len(nodes) > 120
    seen: list[Json] = []

    def kept(flat: Any, scope: Any) -> Iterator[str]:
        seen.append((flat, scope))
        return iter(())

    monkeypatch.setattr(frontend, "function_findings", kept)
    flatten_source("M", TEXT)
    (flat, scope), *_ = seen
    whole = json.dumps(flat.tree["functions"])
    missed, count = [], 0
    for number in range(len(nodes)):
        flat.tree["functions"] = json.loads(whole)
        flat.tree["functions"]["P.h_other"] = flat.tree["functions"]["P.g"] | {"name": "P.h_other"}
        flat.tree["functions"]["P.h_other"]["body"] = []
        places = [
            (name, node)
            for name, function in flat.tree["functions"].items()
            if name != "P.h_other"
            for node in literals(function)
        ]
        name, (tag, body) = places[number]
        if changed(tag, body):
            count += 1
            if not list(function_check.function_findings(flat, scope)):
                missed.append((name, tag, str(body)[:200]))
    assert count > 100
    assert missed == []
