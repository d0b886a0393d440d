"""Verdicts on recorded signals: statements, units, windows, reference files."""

import numpy as np
import pytest

from orchestrator import DescriptionError, Result, judge

TIMES = np.arange(0, 11) * 100_000_000  # ns, 0 to 1 s
FORCE = np.array([0, 1, 5, 9, 12, 9, 6, 4, 3, 3, 3], dtype=float)


@pytest.fixture
def result():
    values = np.column_stack([FORCE, TIMES / 1e9, np.full(11, 0.5)])
    units = {"a.force": "N", "a.x": "m"}
    return Result("one", TIMES, ("a.force", "a.x", "a.share"), values, units)


@pytest.mark.parametrize(
    ("that", "window", "passed", "found"),
    [
        ("a.force < 13 N", {}, True, "at worst 12 N at 0.4 s"),
        ("a.force < 0.012 kN", {}, False, "12 N at 0.4 s"),
        ("a.force <= 12 N", {}, True, "at worst 12 N at 0.4 s"),
        ("a.force > 1 N", {}, False, "0 N at 0 s"),
        ("a.force >= 3 N", {"begin": "200 ms"}, True, "at worst 3 N at 0.8 s"),
        ("a.force < 5 N", {"until": "100 ms"}, True, "at worst 1 N at 0.1 s"),
        ("a.force < 8 N", {}, False, "9 N at 0.3 s, at worst 12 N at 0.4 s"),
        ("a.force within 100 mN of 3 N", {"settles": "0.8 s"}, True, "at worst 3 N at 0.8 s"),
        ("a.force within 0.5 N of 3 N", {"settles": 0.7}, False, "4 N at 0.7 s"),
        ("a.force < 10 N", {"after": "a.x >= 50 cm"}, True, "at worst 9 N at 0.5 s"),
        ("a.force < 7 N", {"after": "a.x > 0.5 m", "settles": 0.1}, True, "at worst 4 N at 0.7 s"),
        ("a.force > 8 N", {"after": "a.force > 8 N", "until": 0.5}, True, "at worst 9 N at 0.3 s"),
        ("a.share < 0.6", {}, True, "at worst 0.5 at 0 s"),
    ],
)
def test_a_signal_in_a_window(result, that, window, passed, found):
    verdict = judge(result, that, **window)
    assert (verdict.passed, verdict.found) == (passed, found)


def test_what_checks_nothing_is_no_pass(result):
    assert judge(result, "a.force < 99 N", begin="2 s").found == "no recorded row in its window"
    never = judge(result, "a.force < 99 N", after="a.x > 3 m", name="touch", requirement="R-7")
    assert not never.passed
    assert str(never) == (
        "expectation 'touch' [R-7], case 'one': broken: expected a.force < 99 N, found"
        " 'a.x > 3 m' in no row"
    )


def test_no_number_is_no_pass(result):
    result.values[5, 0] = np.nan
    verdict = judge(result, "a.force < 99 N")
    assert (verdict.passed, verdict.value, verdict.time) == (False, None, 0.5)


def test_a_tube_about_a_reference(result, tmp_path):
    file = tmp_path / "known.csv"
    rows = [f"{ns / 1e9},{1e3 * (force + 0.2)}" for ns, force in zip(TIMES, FORCE, strict=True)]
    file.write_text("\n".join(["time,a.force [mN]", *rows]))
    assert judge(result, "a.force within 0.21 N", reference=file).passed
    narrow = judge(result, "a.force within 0.19 N", reference=file)
    assert (narrow.passed, narrow.time) == (False, 0.0)
    file.write_text("\n".join(["time,a.force [mN]", *rows[:-1]]))
    assert "has no values" in judge(result, "a.force within 0.21 N", reference=file).found
    assert judge(result, "a.force within 0.21 N", reference=file, until="0.9 s").passed


@pytest.mark.parametrize(
    ("that", "keys"),
    [
        ("a.force", {}),
        ("a.force < much", {}),
        ("a.force < 5 N of 3 N", {}),
        ("a.force within -1 N of 3 N", {}),
        ("a.force within 1 N", {}),
        ("a.force < 1 N", {"reference": "x.csv"}),
        ("a.force < 5", {}),
        ("a.force < 5 m", {}),
        ("a.share < 5 N", {}),
        ("a.power < 5 W", {}),
        ("a.force < 5 N", {"after": "a.power > 1 W"}),
        ("a.force < 5 N", {"begin": "soon"}),
    ],
)
def test_what_cannot_be_judged(result, that, keys, wording):
    with wording.raises(DescriptionError):
        judge(result, that, **keys)
