import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.system import nanoseconds, seconds
from orchestrator.core.system.time import in_seconds, step_length


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        (0.1, 100_000_000),
        (0.3, 300_000_000),  # 0.1 + 0.2 in binary is not 0.3; the shortest decimal form is meant
        (1, 1_000_000_000),
        (1e-9, 1),
        ("16 ms", 16_000_000),
        ("16ms", 16_000_000),
        (" 250 us ", 250_000),
        ("250 µs", 250_000),
        ("1.5 s", 1_500_000_000),
        ("2.5e-3 s", 2_500_000),
        ("1e3 ms", 1_000_000_000),
        ("-5 ms", -5_000_000),
        ("7 ns", 7),
        ("9223372036.854775807 s", 2**63 - 1),
    ],
)
def test_exact(time, expected):
    found = nanoseconds(time)
    assert found == expected
    assert type(found) is int


@pytest.mark.parametrize(
    "time",
    [
        "1.5 ns",
        1e-10,
        1 / 3,
        1 / 60,
        1.0000000005,
        "1.0000000199999999 s",
        "9223372036.854775808 s",
        "1e30 s",
        "1e999999999 s",
        "1e-999999999 s",
        "1.00000000000000000000000000000000001 s",  # more digits than decimal's default precision
    ],
)
def test_not_a_whole_count_of_nanoseconds(time, wording):
    with wording.raises(DescriptionError):
        nanoseconds(time)


@pytest.mark.parametrize(
    "time", ["", ".", "abc", "5 min", "1.2.3", "1 m s", float("nan"), float("inf"), True, None]
)
def test_not_a_time(time, wording):
    with wording.raises(DescriptionError):
        nanoseconds(time, "stop time")


@pytest.mark.parametrize("time", ["1", " 4 ", "0.001", "2.5e-3", "-3"])
@pytest.mark.parametrize("read", [nanoseconds, step_length])
def test_a_text_needs_a_unit(time, read, wording):
    with wording.raises(DescriptionError):
        read(time, "delay")
    assert read(in_seconds(time), "delay") == read(float(time), "delay")


def test_a_quotient_needs_a_unit(wording):
    with wording.raises(DescriptionError):
        step_length("1/60", "step")


@pytest.mark.parametrize("time", ["0", "0.0"])
def test_zero_needs_no_unit(time):
    assert nanoseconds(time) == 0


@given(st.integers(-(2**62), 2**62))
def test_text_of_nanoseconds_comes_back(ns):
    assert nanoseconds(f"{ns} ns") == ns


@given(st.integers(-(10**15), 10**15))
def test_seconds_come_back(ns):
    """Up to 11 days a double of seconds tells every nanosecond apart."""
    assert nanoseconds(seconds(ns)) == ns
