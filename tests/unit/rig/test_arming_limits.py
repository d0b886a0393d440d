"""Every limit of arming, just inside and just outside."""

import math
from types import SimpleNamespace

import pytest

from orchestrator import ArmingError
from orchestrator.rig.arming.extension import arming_rows, arming_section, expect_armed
from orchestrator.rig.arming.identified_model import GainRatio
from orchestrator.rig.arming.margins import ArmedLine, Arming, Reserve, _turned
from orchestrator.rig.hardware.line_delay import LineDelay
from orchestrator.rig.supervisor.rig_tracking import MarginTable

RESERVE = Reserve(4e-3, 1.25)


def above(value):
    return math.nextafter(value, math.inf)


def below(value):
    return math.nextafter(value, -math.inf)


def margins(delay=1.0, gain=9.0, reduction=0.5, *, is_stable=True):
    values = {"delay": delay, "gain": gain, "gain_reduction": reduction}
    limits = {name: SimpleNamespace(value=value) for name, value in values.items()}
    return SimpleNamespace(is_stable=is_stable, **limits)


@pytest.mark.parametrize(
    ("found", "lacks"),
    [
        (margins(4e-3, 1.25), []),
        (margins(below(4e-3), 1.25), ["the delay margin is 4 ms, below the reserve of 4 ms"]),
        (margins(4e-3, below(1.25)), ["the gain margin is 1.25, below the reserve of 1.25"]),
        (margins(-1.0, 0.5, is_stable=False), ["the loop is unstable"]),
    ],
)
def test_a_loop_has_its_reserve_or_lacks_it(found, lacks):
    assert RESERVE.lacks(found) == lacks
    if not found.is_stable:
        beyond = "the loop is unstable beyond own_growth = 0.5 1/s"
        assert Reserve(4e-3, 1.25, 0.5).lacks(found) == [beyond]
    assert len(RESERVE.lacks(margins(3e-3, 1.2))) == 2


LINE = "body.position -> robot.dx"


def test_one_line_without_its_reserve_one_objection_or_a_failure_refuse_all(wording):
    fine = ArmedLine(LINE, ("body",), margins(5e-3, 2.0), complex(-0.5, 2.0 * math.pi))
    bad = ArmedLine(LINE, ("body",), margins(3e-3, 1.1), complex(0.5, 0.0), ("too little",))
    granted = Arming(RESERVE, 4_000_000, (fine, fine))
    assert granted.is_granted
    for refused in (
        Arming(RESERVE, 4_000_000, (fine, bad)),
        Arming(RESERVE, 4_000_000, (fine,), failure="no model"),
        Arming(RESERVE, 4_000_000, (fine,), objections=("of the other sign",)),
    ):
        assert not refused.is_granted
        with wording.raises(ArmingError):
            expect_armed({"c": refused})
        forced = Arming(
            **{k: getattr(refused, k) for k in ("reserve", "step_ns", "lines", "failure")},
            forced="why",
        )
        expect_armed({"c": forced})
    expect_armed({"c": granted})
    assert "too little: it grows with +0.5 1/s at 0 Hz" in Arming(RESERVE, 1, (bad,)).refusal()
    (row, other) = arming_rows(Arming(RESERVE, 4_000_000, (fine, bad), forced="why"))
    assert row == (LINE, 5.0, 2.0, -0.5, 1.0, "granted")
    assert other[-1] == "refused, forced"
    assert arming_rows(Arming(RESERVE, 4_000_000, (bad,)))[0][-1] == "refused"
    text = arming_section("c", granted).note
    reserve = f"Reserve: {RESERVE.delay * 1e3:g} ms and a factor of {RESERVE.gain:g}"
    assert f"{reserve}, with steps of 4 ms." in text
    assert Arming(RESERVE, 1, (fine, bad)).delay_margin == 3e-3
    assert (
        Arming(RESERVE, 1, (fine, bad)).smallest_margins
        == "a delay margin of 3 ms and a gain margin of 1.1"
    )
    assert (
        Arming(RESERVE, 1, (ArmedLine(LINE),)).smallest_margins
        == "no command of a device feeds back to it"
    )
    assert ArmedLine(LINE, (), margins(is_stable=False)).gain == 0.5
    assert math.isnan(ArmedLine(LINE).gain)
    assert math.isnan(ArmedLine(LINE).growth)
    plain = Arming(RESERVE, 4_000_000, (bad, ArmedLine(LINE))).as_json()
    assert (plain["step_s"], plain["delay_reserve_s"], plain["granted"]) == (0.004, 4e-3, False)
    assert plain["lines"][0]["stable"] is True
    assert plain["lines"][1]["stable"] is plain["lines"][1]["gain_margin"] is None


@pytest.mark.parametrize(
    ("identified", "within", "told"),
    [
        (6.0, 3.0, ""),
        (above(6.0), 3.0, "which is 3 times that, expected 1/3 to 3 times"),
        (1.0, 2.0, ""),
        (below(1.0), 2.0, "which is 0.5 times that, expected 1/2 to 2 times"),
        (-2.0, 3.0, "with a gain of -2, its model has 2, of the other sign"),
    ],
)
def test_an_identified_gain_is_within_a_factor_of_its_models(identified, within, told):
    found = GainRatio("robot", "x", "dx", identified, 2.0, is_sure=True).objection(within)
    assert told in found
    assert bool(found) is bool(told)
    unsure = GainRatio("robot", "x", "dx", identified, 2.0, is_sure=False).objection(within)
    assert "its interval has both signs" in unsure


def test_a_model_that_does_not_follow_says_nothing():
    assert GainRatio("robot", "x", "dx", 1.0, 2e-9, is_sure=True).factor == pytest.approx(5e8)
    for model in (1e-9, 0.0):
        ratio = GainRatio("robot", "x", "dx", 1.0, model, is_sure=True)
        assert math.isnan(ratio.factor)
        assert "but its model does not: check whether axes are exchanged" in ratio.objection(3.0)
    assert GainRatio("robot", "x", "dx", 3j, 2j, is_sure=True).factor == 1.5
    assert GainRatio("robot", "x", "dx", -3j, 2j, is_sure=True).factor == -1.5


def test_a_parameter_is_turned_as_little_as_will_do_and_no_farther_than_64_times():
    for turn, edge in ((1, 25.0), (-1, 0.3)):
        tried = []

        def enough(value, turn=turn, edge=edge, tried=tried):
            tried.append(value)
            return value >= edge if turn > 0 else value <= edge

        found = _turned(enough, 2.0, turn)
        assert enough(found)
        assert not enough(found / 2.0 ** (turn * 2.0**-6) * (1 - turn * 1e-9))
        assert len(tried) == math.ceil(abs(math.log2(edge / 2.0))) + 6 + 2
    assert _turned(lambda value: value >= 64.0, 1.0, 1) == pytest.approx(64.0, rel=0.01)
    assert _turned(lambda value: value > 64.0, 1.0, 1) is None
    assert _turned(lambda value: value < 1 / 64, 1.0, -1) is None


def test_what_is_left_is_linear_between_two_rows_and_holds_beyond_them():
    table = MarginTable(
        LINE, 4e-3, 1.25, (0.5, 1.0, 2.0), (0.03, 0.02, 0.0), (-0.01, 0.0, 0.02), (3.0, 2.0, 1.0)
    )
    assert table.remaining(0.0, 1.0) == (0.02, 2.0)
    assert table.remaining(0.005, 1.5) == pytest.approx((0.01 - 0.005, 1.75 / 1.5))
    assert table.remaining(-0.02, 0.25) == pytest.approx((0.03 + 0.02, 3.0 / 0.25))
    assert table.remaining(0.03, 4.0) == pytest.approx((-0.03, 0.25))
    assert table.remaining(0.0, 0.75)[0] == pytest.approx(0.025)


def test_the_parts_of_a_delay_in_words_and_as_data():
    both = LineDelay("robot.x -> sensor.x", 16_000_000, 24_000_000, 20_000_000, is_physical=False)
    assert (both.device_ns, both.total_ns, both.is_known) == (24_000_000, 40_000_000, True)
    assert ": 24 ms identified, 20 ms declared, the run's connection adds 16 ms; margins" in str(
        both
    )
    assert str(both).endswith("are those with 40 ms")
    assert both.as_json() == {
        "line": "robot.x -> sensor.x",
        "device_s": pytest.approx(0.024),
        "added_s": pytest.approx(0.016),
        "total_s": pytest.approx(0.040),
    }
    declared = LineDelay("robot.x -> sensor.x", 0, None, 20_000_000, is_physical=False)
    assert ": 20 ms declared of the device; margins are those with 20 ms" in str(declared)
    delay = LineDelay("robot.x -> sensor.x", 2_000_000, 16_000_000, None, is_physical=True)
    assert ", another device's 2 ms; margins are those with 18 ms" in str(delay)
    unknown = LineDelay("robot.x -> sensor.x", 0, None, None, is_physical=False)
    assert (unknown.total_ns, unknown.is_known, unknown.as_json()["device_s"]) == (0, False, None)
