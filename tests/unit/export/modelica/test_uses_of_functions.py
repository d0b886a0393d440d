"""Functions, constants and packages mean at each use what Modelica says, or are refused."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import casadi as ca
import pytest

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.core.structs import Struct, replace
from orchestrator.export.dae.explicit_ode import make_explicit
from orchestrator.export.modelica.flat.reader import read
from orchestrator.export.modelica.frontend import flatten_source

_FILE = Path(__file__).with_name("uses_of_functions.mo")
CASES = dict(
    section.split("\n", 1) for section in _FILE.read_text(encoding="utf-8").split("// case: ")[1:]
)


def values(text: str) -> dict[str, float]:
    """Values of all variables of model M at time = 1."""
    ode = make_explicit(read(flatten_source("M", text, "M.mo")))
    parameters = ca.DM([float(parameter.start) for parameter in ode.parameters])
    symbols = [
        ca.vertcat(*(each.symbol for each in group)) for group in (ode.parameters, ode.calculated)
    ]
    calculated = ca.Function("c", symbols[:1], [ode.c])(parameters)
    states = ca.Function("s", symbols, [ode.start])(parameters, calculated)
    known = [ode.time, *symbols, ca.vertcat(*(state.symbol for state in ode.states))]
    function = ca.Function("w", known, [ode.w, ode.y])
    ends = function(1.0, parameters, calculated, states)
    groups = (ode.locals, ode.outputs, ode.states, ode.calculated, ode.parameters)
    columns = (*ends, states, calculated, parameters)
    found = {
        variable.name: value
        for group, column in zip(groups, columns, strict=True)
        for variable, value in zip(group, ca.DM(column).full().ravel(), strict=True)
    }
    return found | {constant.name: float(constant.start) for constant in ode.constants}


@pytest.mark.parametrize("name", CASES)
def test_use(name: str) -> None:
    text = CASES[name]
    refused = re.search(r"^// refused: (.*)$", text, re.MULTILINE)
    if refused:
        with pytest.raises(ModelicaError, match=refused[1]):
            values(text)
        return
    expected = {
        variable: float(value)
        for line in re.findall(r"^// expect:(.*)$", text, re.MULTILINE)
        for variable, value in re.findall(r"(\S+) = ([^;]+);", line)
    }
    found = values(text)
    assert expected
    assert {each: found[each] for each in expected} == pytest.approx(expected, rel=1e-12)


#: Packages that extend, copy, modify and redeclare each other at random, and what uses them.
_BODIES = {
    "linear": "y := k*u + j + w;",
    "product": "y := u - k + 10*j*w;",
    "loop": "for i in 1:n loop y := y + i*k; end for; y := y*u - w;",
}
_FIRST = """package P0 constant Real k = 2; constant Real j = 2*k + 1; constant Integer n = 2;
 {function}
 function g input Real u; output Real y; algorithm y := f(u) + k; end g;
 function h = f(w=j);
 package I constant Real c = k + j;
  function q input Real u; output Real y; algorithm y := c*u + k; end q; end I;
 record R Real a = k; Real b = j; end R;
 function t input R r; input Real x = k; output Real y;
  algorithm y := r.a + 10*r.b + 100*x; end t;
end P0;"""
_USERS = """model V replaceable package M = P{default} constrainedby P0;
 Real f = M.f(time); Real g = M.g(2*time); Real h = M.h(time); Real q = M.I.q(time);
 Real c = M.I.c; Real w = M.f(time, 3); M.R r; Real t = M.t(r); end V;
model B V v; replaceable package N = P{default} constrainedby P0; V x(redeclare package M = N);
end B;"""


class Package(Struct):
    """What a package is: None is a constant that follows from the others."""

    k: int = 2
    j: int | None = None
    c: int | None = None
    n: int = 2
    body: str = "linear"

    @property
    def second(self) -> int:
        return 2 * self.k + 1 if self.j is None else self.j

    @property
    def inner(self) -> int:
        return self.k + self.second if self.c is None else self.c

    def f(self, u: int, w: int | None = None) -> int:
        w = self.k if w is None else w
        if self.body == "linear":
            return self.k * u + self.second + w
        if self.body == "product":
            return u - self.k + 10 * self.second * w
        return sum(i * self.k for i in range(1, self.n + 1)) * u - w

    def of_user(self, name: str) -> dict[str, int]:
        """Values of a model V at time = 1."""
        return {
            f"{name}.f": self.f(1),
            f"{name}.g": self.f(2) + self.k,
            f"{name}.h": self.f(1, self.second),
            f"{name}.q": self.inner + self.k,
            f"{name}.c": self.inner,
            f"{name}.w": self.f(1, 3),
            f"{name}.t": self.k + 10 * self.second + 100 * self.k,
        }


def function(body: str, prefixes: str) -> str:
    return (
        f"{prefixes} function f input Real u; input Real w = k; output Real y = 0;"
        f" algorithm {_BODIES[body]} end f;"
    )


def modified(chance: random.Random, base: Package, names: str) -> tuple[str, Package]:
    """Random modifications of constants as text, and what comes of them."""
    changes: dict[str, Any] = {
        name: chance.randint(3, 40) for name in names if chance.random() < 0.4
    }
    written = [f"I(c={v})" if name == "c" else f"{name}={v}" for name, v in changes.items()]
    return f"({', '.join(written)})" if written else "", replace(base, **changes)


def system(seed: int) -> tuple[str, dict[str, int]]:
    """A random model, and the values of its variables."""
    chance = random.Random(seed)  # noqa: S311 - models, no secrets
    texts, packages = [_FIRST.format(function=function("linear", "replaceable"))], [Package()]
    for number in range(1, chance.randint(3, 6)):
        base = chance.randrange(number)
        text, package = modified(chance, packages[base], "kjnc")
        own, form = "", chance.random()
        if form < 0.4:
            texts.append(f"package P{number} = P{base}{text};")
        else:
            if form < 0.8:
                package = replace(package, body=chance.choice(list(_BODIES)))
                own = function(package.body, "redeclare replaceable")
            texts.append(f"package P{number} extends P{base}{text}; {own} end P{number};")
        packages.append(package)
    default = chance.randrange(len(packages))
    texts.append(_USERS.format(default=default))
    body, expected = ["V a;"], packages[default].of_user("a")
    for number in range(chance.randint(1, 4)):
        used = chance.randrange(len(packages))
        text, package = modified(chance, packages[used], "kj")
        if chance.random() < 0.4:
            body.append(f"B b{number}(redeclare package N = P{used}{text});")
            expected |= package.of_user(f"b{number}.x") | packages[default].of_user(f"b{number}.v")
        else:
            body.append(f"V b{number}(redeclare package M = P{used}{text});")
            expected |= package.of_user(f"b{number}")
    return "\n".join([*texts, f"model M {' '.join(body)} end M;"]), expected


@pytest.mark.parametrize("seed", range(12))
def test_random_packages(seed: int) -> None:
    text, expected = system(seed)
    found = values(text)
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-12)
