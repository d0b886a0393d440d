"""UnitDefinitions of exported FMUs."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from fmpy import read_model_description

from orchestrator.export.archive.description import units


def _defined(name: str) -> dict[str, str] | None:
    (unit,) = units([name], {})
    return None if unit.base is None else dict(unit.base)


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("degC", {"K": "1", "offset": "273.15"}),
        ("degF", {"K": "1", "factor": repr(5 / 9), "offset": repr(459.67 / 1.8)}),
        ("degC/s", {"K": "1", "s": "-1"}),
        ("W/(m2.degC)", {"kg": "1", "s": "-3", "K": "-1"}),
        ("V/(rad/s)", {"kg": "1", "m": "2", "s": "-2", "A": "-1", "rad": "-1"}),
        ("Nm", {"kg": "1", "m": "2", "s": "-2"}),
        ("rev/min", {"rad": "1", "s": "-1", "factor": "0.10471975511965977"}),
        ("rpm", {"rad": "1", "s": "-1", "factor": "0.10471975511965977"}),
        ("Hz", {"s": "-1"}),
        ("dB", None),
        ("1", {}),
    ],
)
def test_base_units(unit: str, expected: dict[str, str] | None) -> None:
    assert _defined(unit) == expected


def test_display_units() -> None:
    made = units(["K", "rad/s"], {"K": {"degC", "degF"}, "rad/s": {"rev/min"}})
    listed = [each for unit in made for each in unit.displayed]
    shown = {each["name"]: (each["factor"], each["offset"]) for each in listed}
    assert shown["degC"] == ("1.0", "-273.15")
    assert shown["degF"] == ("1.8", "-459.67")
    assert float(str(shown["rev/min"][0])) == pytest.approx(9.549296585513721, rel=1e-15)


def test_a_model_in_the_units_of_engineers(
    build_text: Callable[..., Path], caplog: pytest.LogCaptureFixture
) -> None:
    text = """
    model Heated
      input Real u(unit = "Nm");
      output Real t(unit = "degF", start = 32, fixed = true);
      output Real level(unit = "dB") = 20;
      parameter Real k(unit = "V/(rad/s)") = 2;
    equation
      der(t) = k*u;
    end Heated;
    """
    with caplog.at_level(logging.WARNING):
        described = read_model_description(str(build_text("Heated", text)))
    assert "unit 'Nm' is read as 'N.m'; write it so" in caplog.text
    bases = {unit.name: unit.baseUnit for unit in described.unitDefinitions}
    assert (bases["Nm"].kg, bases["Nm"].m, bases["Nm"].s, bases["Nm"].factor) == (1, 2, -2, 1.0)
    assert (bases["degF"].K, float(bases["degF"].offset)) == (1, 459.67 / 1.8)
    assert (bases["degF/s"].factor, bases["degF/s"].offset) == (5 / 9, 0.0)
    assert bases["dB"] is None
