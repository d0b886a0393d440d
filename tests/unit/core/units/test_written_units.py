"""Units as people write them: read as meant, or refused."""

from __future__ import annotations

import logging

import pytest

from orchestrator.core.diagnostics import UnitMismatchError
from orchestrator.core.system import conversion
from orchestrator.core.units.conversion import base_unit, other_spelling
from tests.unit.core.units.unit_lists import ENGINEERS


@pytest.mark.parametrize(
    "unit",
    [
        *("decades", "octaves", "decibelmilliwatt", "decibelmilliwatts", "decibelwatt"),
        *("reaumur", "millicelsius", "kilofahrenheit"),
    ],
)
def test_words_of_other_scales_are_no_factors(unit: str, wording) -> None:
    with wording.raises(UnitMismatchError):
        base_unit(unit)


@pytest.mark.parametrize(
    ("unit", "factor", "offset"),
    [("celsius", 1.0, 273.15), ("fahrenheit", 5 / 9, 459.67 * 5 / 9), ("millikelvin", 1e-3, 0.0)],
)
def test_words_of_temperatures(unit: str, factor: float, offset: float) -> None:
    assert conversion(unit, "K") == pytest.approx((factor, offset), rel=1e-15)


@pytest.mark.parametrize(("written", "meant"), ENGINEERS.items())
def test_what_engineers_write_is_read_as_meant(written: str, meant: str) -> None:
    assert other_spelling(written) == meant
    assert base_unit(written) == base_unit(meant)
    assert conversion(written, meant) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        *((f"{degree}{gap}C", "degC") for degree in ("deg", "degree", "Grad") for gap in " _"),
        *((f"{degree} Celsius", "degC") for degree in ("deg", "degree", "degrees", "Grad", "°")),
        ("degree celsius", "degC"),
        ("Degrees Centigrade", "degC"),
        ("deg F", "degF"),
        ("degrees Fahrenheit", "degF"),
        ("deg K", "K"),
        ("°K", "K"),
        ("degree Kelvin", "K"),
        ("degrees Rankine", "degRk"),
        ("W/(m2.deg C)", "W/(m2.degC)"),
        ("degree Celsius/s", "degC/s"),
    ],
)
def test_a_temperature_in_words_is_one_symbol(written: str, meant: str) -> None:
    assert other_spelling(written) == meant
    assert base_unit(written) == base_unit(meant)
    assert conversion(written, meant) == (1.0, 0.0)


@pytest.mark.parametrize("unit", ["rad K", "K deg", "mrad-degC", "deg mK", "deg2 K"])
def test_an_angle_before_a_temperature_is_no_product_by_a_gap(unit: str, wording) -> None:
    with wording.raises(UnitMismatchError):
        base_unit(unit)


def test_an_angle_and_a_temperature_are_a_product_by_a_dot() -> None:
    assert base_unit("rad.K").exponents == {"rad": 1, "K": 1}
    assert base_unit("rad*K").exponents == {"rad": 1, "K": 1}


@pytest.mark.parametrize("unit", ["Grad", "Grad/s", "grad"])
def test_degrees_in_german_are_no_gigaradians(unit: str, wording) -> None:
    with wording.raises(UnitMismatchError):
        base_unit(unit)


def test_it_is_told_once_how_a_unit_is_read(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert conversion("kNcm", "J") == (10.0, 0.0)
        assert conversion("kNcm", "N.m") == (10.0, 0.0)
    assert [record.getMessage() for record in caplog.records] == [
        "unit 'kNcm' is read as 'kN.cm'; write it so"
    ]


_WORDS = (
    "foo 1e3 N/ m^0.5 N..m .m (m m) m^^2 m2^2 m^- 10 furlongs_per kgs.Nq m999 m21 gm / // ** ^2"
    " 1/1e5 m. +m tex/"
)


_NO_UNITS = [
    *_WORDS.split(),
    *(
        "Qm20",
        "1/qm20",
        "a b",
        "3 m",
        "mm mm x",
        "(" * 50 + "m" + ")" * 50,
        "m" + "9" * 5000,
        "\x1b[1m",
    ),
]


@pytest.mark.parametrize("unit", _NO_UNITS)
def test_not_a_unit(unit: str, wording) -> None:
    with wording.raises(UnitMismatchError):
        conversion(unit, "m")


@pytest.mark.parametrize(
    "unit",
    [
        "N/m/s",
        "Nm/rad/s",
        "W/m2*K",
        "N/m s",
    ],
)
def test_what_could_be_two_units_is_refused_with_both(unit: str, wording) -> None:
    with wording.raises(UnitMismatchError):
        base_unit(unit)
