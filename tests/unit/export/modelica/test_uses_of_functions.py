"""Functions, constants and packages mean at each use what Modelica says, or are refused."""

from __future__ import annotations

import re
from pathlib import Path

import casadi as ca
import pytest

from orchestrator.core.diagnostics import ModelicaError
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
    parameters = ca.DM([float(each.start) for each in ode.parameters])
    symbols = [
        ca.vertcat(*(each.symbol for each in group)) for group in (ode.parameters, ode.calculated)
    ]
    calculated = ca.Function("c", symbols[:1], [ode.c])(parameters)
    states = ca.Function("s", symbols, [ode.start])(parameters, calculated)
    known = [ode.time, *symbols, ca.vertcat(*(each.symbol for each in ode.states))]
    function = ca.Function("w", known, [ode.w, ode.y])
    ends = function(1.0, parameters, calculated, states)
    groups = (ode.locals, ode.outputs, ode.states, ode.calculated, ode.parameters)
    columns = (*ends, states, calculated, parameters)
    found = {
        variable.name: value
        for group, column in zip(groups, columns, strict=True)
        for variable, value in zip(group, ca.DM(column).full().ravel(), strict=True)
    }
    return found | {each.name: float(each.start) for each in ode.constants}


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
