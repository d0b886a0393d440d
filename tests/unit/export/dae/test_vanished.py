"""Derivatives whose factor is an unknown that is 0: capacitances without size."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_CIRCUIT = """model Circuit
  parameter Real C = 0 annotation(Evaluate=true);
  Real c "of the junction"; Real v(start=1); Real v1; Real v2; Real i;
  output Real y;
equation
  c = C*(1 + v^2); v = v1 - v2; v2 = 0;
  i = c*der(v) + v^3; i = (sin(time) + 2 - v1)/0.5; y = v1;
end Circuit;"""


def test_a_capacitance_of_zero_leaves_no_state(
    build_text: Callable[..., Path], open_fmu: Callable[..., Any]
) -> None:
    circuit = open_fmu(build_text("Circuit", _CIRCUIT)).initialize()
    assert circuit.description.numberOfContinuousStates == 0
    circuit.step(0.5)
    (y,) = circuit.get("y")
    assert y**3 == pytest.approx((0.479425538604203 + 2 - y) / 0.5, rel=1e-12)


def test_one_with_a_size_has_one(build_text: Callable[..., Path]) -> None:
    from fmpy import read_model_description

    path = build_text("Circuit", _CIRCUIT.replace("C = 0", "C = 1"))
    assert read_model_description(str(path)).numberOfContinuousStates == 1
