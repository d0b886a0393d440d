from __future__ import annotations

import math

import pytest

from orchestrator.errors import ModelicaError
from orchestrator.export.unit_definition import base_unit


@pytest.mark.parametrize(
    ("unit", "exponents", "factor"),
    [
        ("1", {}, 1.0),
        ("N", {"kg": 1, "m": 1, "s": -2}, 1.0),
        ("N.s/m", {"kg": 1, "s": -1}, 1.0),
        ("kg.m2", {"kg": 1, "m": 2}, 1.0),
        ("m/s2", {"m": 1, "s": -2}, 1.0),
        ("rad/s", {"rad": 1, "s": -1}, 1.0),
        ("N.m/rad", {"kg": 1, "m": 2, "s": -2, "rad": -1}, 1.0),
        ("N/(m.s)", {"kg": 1, "s": -3}, 1.0),
        ("1/s", {"s": -1}, 1.0),
        ("s-1", {"s": -1}, 1.0),
        ("Hz", {"s": -1}, 1.0),
        ("mm", {"m": 1}, 1e-3),
        ("g", {"kg": 1}, 1e-3),
        ("deg", {"rad": 1}, math.pi / 180),
        ("km/h", {"m": 1, "s": -1}, 1 / 3.6),
        ("V.A", {"kg": 1, "m": 2, "s": -3}, 1.0),
    ],
)
def test_exponents_and_factor(unit: str, exponents: dict[str, int], factor: float) -> None:
    base = base_unit(unit)
    assert base.exponents == exponents
    assert base.factor == pytest.approx(factor, rel=1e-12)
    assert base.offset == 0.0


def test_celsius_has_an_offset() -> None:
    assert (base_unit("degC").exponents, base_unit("degC").offset) == ({"K": 1}, 273.15)


@pytest.mark.parametrize("unit", ["N/m/s", "N*m", "furlongs_per", "N..m", "m^2"])
def test_wrong_notation_is_refused(unit: str) -> None:
    with pytest.raises(ModelicaError, match="expected Modelica notation"):
        base_unit(unit)
