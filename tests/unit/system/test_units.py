import pytest

from orchestrator.errors import UnitMismatchError
from orchestrator.system import conversion


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
        ("h", "s", 3600.0),
        ("%", "1", 0.01),
        ("1/min", "1/s", 1 / 60),
        ("deg", "rad", 0.017453292519943295),
        ("rev/min", "rad/s", 0.10471975511965977),
        ("bar", "Pa", 1e5),
    ],
)
def test_factors(source, target, factor):
    found, offset = conversion(source, target)
    assert found == pytest.approx(factor, rel=1e-14)  # pint multiplies a few rounded factors
    assert offset == 0.0


@pytest.mark.parametrize("pair", [("N", "N"), (None, "N"), ("N", None), (None, None)])
def test_equal_or_undeclared_units_change_nothing(pair):
    assert conversion(*pair) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("source", "target", "factor", "offset"),
    [("degC", "K", 1.0, 273.15), ("K", "degC", 1.0, -273.15), ("degC", "degF", 1.8, 32.0)],
)
def test_offsets(source, target, factor, offset):
    # A difference of two temperatures of about 300: 14 digits are left.
    assert conversion(source, target) == pytest.approx((factor, offset), rel=1e-13)


def test_differences_of_temperatures_have_no_offset():
    assert conversion("W/(m2.degC)", "W/(m2.K)") == pytest.approx((1.0, 0.0))
    assert conversion("degC/s", "K/s") == pytest.approx((1.0, 0.0))


def test_dimensions_differ():
    with pytest.raises(UnitMismatchError, match=r"'N' .* does not convert to 'm'"):
        conversion("N", "m")


@pytest.mark.parametrize("unit", ["foo", "a b", "1e3", "N*m", "m^2", "N/", "m**2", "3 m"])
def test_not_a_unit(unit):
    """What pint would read, but Modelica does not, is refused too."""
    with pytest.raises(UnitMismatchError, match="is not a unit"):
        conversion(unit, "m")


@pytest.mark.parametrize("pair", [("Hz", "rad/s"), ("rad/s", "kHz"), ("rev/min", "Hz")])
def test_hertz_is_not_an_angular_velocity(pair):
    with pytest.raises(UnitMismatchError, match="2 pi"):
        conversion(*pair)
