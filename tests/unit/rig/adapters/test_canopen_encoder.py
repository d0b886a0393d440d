"""CiA 402: encoders that freeze or jump are noticed by the adapter itself."""

import math

import numpy as np
import pytest
from canopen_bench import Bench, drive, settings
from hypothesis import given
from hypothesis import strategies as st

from hw_adapters.canopen_cia402.encoder_check import EncoderCheck
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.rig.devices import DeviceError, read_settings
from orchestrator.rig.devices.registry import device_class

LIMIT, TOLERANCE, TURN = 50.0, 1.0, math.tau / 65536


def first_finding(positions, velocities, told=0.0, h=1e-3, passed=None):
    """Return the time of what is found first, s, and its text."""
    check = EncoderCheck(LIMIT, TOLERANCE, TURN)
    for k, (x, v) in enumerate(zip(positions, velocities, strict=True)):
        if text := check.look(x, v, told * h, h, passed or (h, h)):
            return k * h, text
    return None


@given(st.integers(0, 2**32 - 1), st.sampled_from([TURN, math.tau / 24]))
def test_a_sound_encoder_is_never_found_fault_with(seed, increment):
    """Full reversals within a cycle, behind a filter of 50 Hz, counted in increments."""
    chance, h, corner = np.random.default_rng(seed), 1e-3, math.tau * 50.0
    true = np.repeat(chance.uniform(-LIMIT, LIMIT, 20), 50)
    check = EncoderCheck(LIMIT, TOLERANCE, increment)
    position = shown = slope = 0.0
    for v in true:
        for _ in range(8):
            slope += h / 8 * (corner**2 * (v - shown) - math.sqrt(2.0) * corner * slope)
            shown += h / 8 * slope
        position += v * h
        counted = increment * round(position / increment)
        passed = sorted((h, chance.uniform(0.2, 3.0) * h))
        assert check.look(counted, shown, 0.0, h, tuple(passed)) == ""


@pytest.mark.parametrize(("speed", "after"), [(50.0, 0.02), (5.0, 0.22), (-2.0, 0.69)])
def test_a_frozen_encoder_is_found_once_its_velocity_amounts_to_the_tolerance(speed, after):
    k = np.arange(3000)
    found, text = first_finding(np.minimum(k, 100) * 1e-3 * speed, np.full(3000, speed))
    assert found - 0.1 == pytest.approx(after, rel=0.05)
    assert "stands" in text


def test_what_a_velocity_shows_at_rest_does_not_add_up():
    assert first_finding(np.zeros(20_000), np.full(20_000, 0.9)) is None


def test_an_axis_that_is_told_to_move_and_stands_is_found():
    found, text = first_finding(np.zeros(1000), np.zeros(1000), told=5.0)
    assert found == pytest.approx(0.22, rel=0.05)
    assert "or the axis is blocked: the command was to move by 1" in text


@pytest.mark.parametrize("jump", [0.2, -0.2, 2**31 * TURN])
def test_a_jump_is_found_at_once(jump):
    k = np.arange(200)
    positions = 1e-3 * k * 10.0 + jump * (k >= 150)
    found, text = first_finding(positions, np.full(200, 10.0))
    assert found == 0.150
    assert "jumped" in text


@pytest.mark.parametrize("passed", [1e-4, 0.05])
def test_a_line_that_is_not_in_real_time_is_no_jump(passed):
    k = np.arange(200)
    passed = min(0.001, passed), max(0.001, passed)
    for each in passed:  # by the clock, and by SYNC
        assert first_finding(each * k * LIMIT, np.full(200, LIMIT), passed=passed) is None


#: However long a busy machine takes for a cycle.
PATIENT = {"heartbeat_timeout_ms": 60_000, "late_ms": 60_000}


def bench(monkeypatch, **more):
    made = Bench(monkeypatch, settings(drive(encoder_tolerance=0.05), **PATIENT, **more))
    made.device.open()
    made.cycles(100, (5.0,))
    return made


def test_a_drive_whose_encoder_freezes_is_led_to_rest(monkeypatch, wording):
    made = bench(monkeypatch)
    held = made.drives[0].objects[0x6064, 0]
    made.drives[0].tell_felt = lambda felt: (held, felt[1], felt[2])
    with wording.raises(DeviceError):
        made.until_it_fails([(5.0,)] * 20)
    made.device.close()
    assert made.shaft.velocity == pytest.approx(0.0, abs=2e-3)
    assert ("quick_stop", 1) in made.log


def test_a_drive_whose_encoder_jumps_is_led_to_rest_and_samples_are_not_valid(monkeypatch):
    made = bench(monkeypatch, on_fault="hold")
    made.drives[0].tell_felt = lambda felt: (felt[0] + 2**30, *felt[1:])
    marked = [(s.valid, s.status) for s in made.cycles(5, (5.0,))]
    assert marked[-3:] == [(False, 0x7300)] * 3
    made.device.close()
    assert ("quick_stop", 1) in made.log


@pytest.mark.parametrize("jump", [2**28, 2**30])
def test_on_the_way_to_rest_no_target_comes_from_an_encoder_that_jumped(jump, monkeypatch):
    made = Bench(monkeypatch, settings(drive(mode="csp"), on_fault="hold", **PATIENT))
    made.device.open()
    targets = []
    for k in range(60):
        if k == 40:
            made.drives[0].tell_felt = lambda felt: (felt[0] + jump, *felt[1:])
        made.cycles(1, (1e-3 * k,))
        targets.append(made.drives[0].command)
    made.device.close()
    assert ("quick_stop", 1) in made.log
    assert np.abs(np.diff(targets)).max() < 1.1e-3


def test_all_that_freezes_from_the_beginning_is_found_by_the_command(monkeypatch, wording):
    made = Bench(monkeypatch, settings(drive(encoder_tolerance=0.05), **PATIENT))
    made.drives[0].tell_felt = lambda felt: (7.0, 0.0, 0.0)
    made.device.open()
    with wording.raises(DeviceError):
        made.until_it_fails([(5.0,)] * 30)


def test_a_tolerance_of_nothing_is_refused(wording):
    with wording.raises(DescriptionError):
        read_settings(
            device_class("canopen_cia402"),
            {"channel": "x", "drives": [drive(encoder_tolerance=0)]},
            "device 'd'",
        )
