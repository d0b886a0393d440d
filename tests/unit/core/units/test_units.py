"""Conversion of units: factors, offsets, angles, levels, and what is refused."""

from __future__ import annotations

import math

import pytest
from scipy import constants

from orchestrator.core.diagnostics import UnitMismatchError
from orchestrator.core.system import conversion, product_in
from orchestrator.core.units.conversion import base_unit, per_second


@pytest.mark.parametrize(
    ("source", "target", "factor"),
    [
        ("kN", "N", 1000.0),
        ("N.s/m", "kg/s", 1.0),
        ("N/mm", "N/m", 1000.0),
        ("m.s-2", "mm/s2", 1000.0),
        ("kg.m2", "g.m2", 1000.0),
        ("J/(kg.K)", "m2/(s2.K)", 1.0),
        ("Ohm", "V/A", 1.0),
        ("V/(rad/s)", "V.s/rad", 1.0),
        ("h", "s", 3600.0),
        ("%", "1", 0.01),
        ("1/min", "1/s", 1 / 60),
        ("deg", "rad", math.pi / 180),
        ("bar", "Pa", 1e5),
        ("lbf", "N", constants.lbf),
        ("lb", "kg", constants.lb),
        ("in", "m", constants.inch),
        ("ft", "m", constants.foot),
        ("mi", "m", constants.mile),
        ("nmi", "m", constants.nautical_mile),
        ("mph", "m/s", constants.mph),
        ("kn", "m/s", constants.knot),
        ("psi", "Pa", constants.psi),
        ("atm", "Pa", constants.atm),
        ("Torr", "Pa", constants.torr),
        ("kgf", "N", constants.kgf),
        ("hp", "W", constants.hp),
        ("cal", "J", constants.calorie),
        ("BTU", "J", constants.Btu),
        ("dyn", "N", constants.dyn),
        ("erg", "J", constants.erg),
        ("eV", "J", constants.eV),
        ("slug", "kg", constants.slug),
        ("gal", "m3", constants.gallon),
        ("lbf.ft", "N.m", constants.lbf * constants.foot),
        ("oz", "kg", constants.oz),
        ("ha", "m2", constants.hectare),
        ("'", "rad", constants.arcmin),
        ('"', "rad", constants.arcsec),
        ("kilometers", "m", 1000.0),
        ("newton", "N", 1.0),
        ("Newton", "N", 1.0),
    ],
)
def test_factors_both_ways(source: str, target: str, factor: float) -> None:
    there, back = conversion(source, target), conversion(target, source)
    assert there == pytest.approx((factor, 0.0), rel=2e-6 if source == "BTU" else 1e-14)
    assert back[0] * there[0] == pytest.approx(1.0, rel=1e-15)


def test_decimal_factors_are_exact() -> None:
    assert conversion("mm", "m") == (0.001, 0.0)
    assert conversion("deg", "rad")[0] == math.pi / 180
    assert conversion("rpm", "Hz")[0] == 1 / 60
    assert conversion("degF", "degC") == (5 / 9, float(-160 / 9))


@pytest.mark.parametrize("pair", [("N", "N"), (None, "N"), ("N", None), (None, None), ("x", "x")])
def test_equal_or_undeclared_units_change_nothing(pair: tuple[str | None, str | None]) -> None:
    assert conversion(*pair) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("source", "target", "factor", "offset"),
    [
        ("degC", "K", 1.0, 273.15),
        ("K", "degC", 1.0, -273.15),
        ("degC", "degF", 1.8, 32.0),
        ("degF", "degC", 5 / 9, -32 * 5 / 9),
        ("degF", "K", 5 / 9, 459.67 * 5 / 9),
        ("degRk", "degF", 1.0, -459.67),
        ("mK", "degC", 1e-3, -273.15),
    ],
)
def test_offsets(source: str, target: str, factor: float, offset: float) -> None:
    assert conversion(source, target) == pytest.approx((factor, offset), rel=1e-15)


@pytest.mark.parametrize(
    ("source", "target", "factor"),
    [
        ("W/(m2.degC)", "W/(m2.K)", 1.0),
        ("degC/s", "K/s", 1.0),
        ("degF/s", "K/s", 5 / 9),
        ("1/degF", "1/degC", 1.8),
        ("J/(kg.degF)", "J/(kg.K)", 1.8),
        ("degC2", "K2", 1.0),
    ],
)
def test_differences_of_temperatures_have_no_offset(
    source: str, target: str, factor: float
) -> None:
    assert conversion(source, target) == pytest.approx((factor, 0.0), rel=1e-15)
    assert base_unit(source).offset == 0.0


@pytest.mark.parametrize(
    ("source", "target", "factor"),
    [
        ("rpm", "Hz", 1 / 60),
        ("Hz", "rpm", 60.0),
        ("rev/min", "Hz", 1 / 60),
        ("rev/s", "kHz", 1e-3),
        ("1/min", "Hz", 1 / 60),
        ("Hz", "1/s", 1.0),
        ("rpm", "rad/s", math.pi / 30),
        ("rad/s", "rev/min", 30 / math.pi),
        ("rpm", "deg/s", 6.0),
        ("rpm", "rev/min", 1.0),
        ("rev", "rad", 2 * math.pi),
        ("deg", "rev", 1 / 360),
        ("mm/rev", "m/rad", 1e-3 / (2 * math.pi)),
        ("V/krpm", "V/(rad/s)", 0.03 / math.pi),
        ("V/Hz", "V.s/rev", 1.0),
        ("1/s", "rad/s", 1.0),
        ("N.m", "N.m/rad", 1.0),
        ("rev/min2", "rad/s2", 2 * math.pi / 3600),
    ],
)
def test_angles_and_cycles_convert_where_it_is_clear(
    source: str, target: str, factor: float
) -> None:
    assert conversion(source, target) == pytest.approx((factor, 0.0), rel=1e-15)
    assert conversion(target, source) == pytest.approx((1 / factor, 0.0), rel=1e-15)


@pytest.mark.parametrize(
    "pair",
    [
        ("Hz", "rad/s"),
        ("kHz", "deg/s"),
        ("V/Hz", "V.s/rad"),
        ("rpm", "1/s"),
        ("rpm", "1/min"),
        ("rev/min", "1/min"),
        ("rev/s", "1/s"),
        ("rev", "1"),
        ("N.m/rev", "N.m"),
        ("1/min", "rad/s"),
        ("1/min", "deg/s"),
        ("1/h", "rad/s"),
        ("N.m.min", "N.m.s/rad"),
    ],
)
def test_a_factor_of_two_pi_is_never_silent(pair: tuple[str, str], wording) -> None:
    for one, other in (pair, pair[::-1]):
        with wording.raises(UnitMismatchError):
            conversion(one, other)


def test_levels_convert_by_their_law() -> None:
    assert conversion("dB", "Np") == pytest.approx((math.log(10) / 20, 0.0), rel=1e-15)
    assert conversion("Np", "dB") == pytest.approx((20 / math.log(10), 0.0), rel=1e-15)
    assert conversion("dB/m", "dB/km") == (1000.0, 0.0)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("dB", "1"),
        ("1", "dB"),
        ("Np", "1"),
        ("dB", "%"),
        ("dBm", "W"),
        ("dBm", "dB"),
        ("dBV", "V"),
        ("octave", "1"),
        ("decade", "1"),
        ("phon", "Pa"),
    ],
)
def test_levels_do_not_convert_by_a_factor(source: str, target: str, wording) -> None:
    with wording.raises(UnitMismatchError):
        conversion(source, target)


def test_dimensions_differ(wording) -> None:
    with wording.raises(UnitMismatchError):
        conversion("N", "m")


@pytest.mark.parametrize(
    ("unit", "derivative"),
    [
        ("m", "m/s"),
        ("m/s", "m/s2"),
        ("W", "W/s"),
        ("N.s", "N"),
        ("degC", "K/s"),
        ("degF", "degF/s"),
        ("V/(rad/s)", "V/rad"),
        ("1", "1/s"),
        ("kgm2", "kg.m2/s"),
        ("s", "1"),
        ("W/(m2.K)", "W/(m2.K.s)"),
    ],
)
def test_unit_of_a_derivative(unit: str, derivative: str) -> None:
    assert per_second(unit) == derivative
    difference = base_unit("K" if unit == "degC" else unit)
    assert base_unit(derivative).factor == pytest.approx(difference.factor, rel=1e-15)
    assert base_unit(derivative).offset == 0.0


def test_products() -> None:
    assert product_in("W", "N.m", "rad/s") == 1.0
    assert product_in("W", "N.m", "rev/min") == pytest.approx(math.pi / 30)
    assert product_in("W", "Nm", "1/s") == 1.0
    assert product_in("J", "kN", "mm") == 1.0
    assert product_in("W", "N.m", "Hz") is None  # 2 pi is missing
    assert product_in("W", "N.m", "deg/min") == pytest.approx(math.pi / 10800)
    assert product_in("W", "N", "m/min") == product_in("W", "N.m/min") == 1 / 60
    assert product_in("J", "kg.m2", "rev2/min2") == pytest.approx((2 * math.pi / 60) ** 2)
    assert product_in("J", "kW.h") == product_in("J", "kW", "h") == 3.6e6
    assert product_in("W", "W/K", "degC") is None  # a product needs the absolute temperature
    assert product_in("W", "N", None) is None
    assert product_in("W", "N", "quux") is None


@pytest.mark.parametrize("rate", ["1/min", "1/h", "min-1", "1/min2"])
def test_a_power_of_counts_per_minute_may_lack_two_pi(rate: str) -> None:
    effort = "N.m.s" if rate == "1/min2" else "N.m"
    assert product_in("W", effort, rate) is None
    assert product_in("W", rate, effort) is None
