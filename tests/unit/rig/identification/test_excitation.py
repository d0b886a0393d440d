"""Excitations keep to their limits, and begin and end at rest."""

import numpy as np
import pytest

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.rig.identification.record import (
    _REGISTER,
    KINDS,
    ExcitationLimits,
    _random,
    excitation,
)

LIMITS = (ExcitationLimits(1.0), ExcitationLimits(1e-3, 0.25), ExcitationLimits(1e-3, 0.25, 10.0))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("step", [0.004, 0.001])
def test_limits_are_kept(kind, limits, step):
    command = excitation(kind, 2.0, step, limits, 0.016)
    speed = np.diff(command, prepend=0.0, append=0.0) / step
    bend = np.diff(speed, prepend=0.0, append=0.0) / step
    assert len(command) == round(2.0 / step)
    assert command[-1] == pytest.approx(0.0, abs=1e-12)
    room = 1.0 + 1e-9
    assert 0.5 * limits.amplitude < np.abs(command).max() <= limits.amplitude * room
    assert np.abs(speed).max() <= limits.speed * room
    assert np.abs(bend).max() <= limits.acceleration * room


def test_a_random_command_has_both_ends_about_as_often():
    command = excitation("prbs", 8.0, 0.004, ExcitationLimits(1.0), 0.016)
    assert abs(command.mean()) < 0.15
    assert set(np.unique(command)) == {-1.0, 0.0, 1.0}
    held = np.diff(np.flatnonzero(np.diff(command)))
    assert held[:-1].min() >= 4  # the last one ends with the excitation


def test_what_cannot_be_done_is_refused(wording):
    with wording.raises(DescriptionError):
        excitation("step", 0.01, 0.004, ExcitationLimits(1.0), 0.016)
    with wording.raises(DescriptionError):
        excitation("step", 1.0, 0.004, ExcitationLimits(1.0, 0.1), 0.016)
    with wording.raises(DescriptionError):
        ExcitationLimits(1.0, 0.0)


def test_a_chirp_goes_through_its_frequencies():
    """From 2/T to a quarter of 1/hold: (2/T + 0.25/hold)/2 T turns, two zeros in each."""
    command = excitation("chirp", 8.0, 0.001, ExcitationLimits(1.0), 0.016)
    zeros = np.flatnonzero(np.diff(np.sign(command[np.abs(command) > 1e-12])))
    assert len(zeros) == pytest.approx(8.0 * (2.0 / 8.0 + 0.25 / 0.016), abs=2)
    early, late = np.diff(zeros)[:3].mean(), np.diff(zeros)[-8:].mean()
    assert early == pytest.approx(1000 * 0.5 / (2.0 / 8.0 + 1.0), rel=0.5)
    assert late == pytest.approx(1000 * 0.5 * 0.016 / 0.25, rel=0.1)


def test_a_chirp_grows_and_fades_along_a_smooth_step():
    """Its height is 3 f^2 - 2 f^3, where f goes from 0 at both ends to 1 in the middle."""
    command = np.abs(excitation("chirp", 8.0, 0.001, ExcitationLimits(1.0), 0.016))
    fade = np.minimum(np.arange(1, 8001), 8000 - np.arange(1, 8001)) / 4000.0
    height = fade**2 * (3.0 - 2.0 * fade)
    assert (command <= height + 1e-12).all()
    for middle in (2000, 3000, 5000, 6000):  # a period is less than 300 ms there
        part = slice(middle - 150, middle + 150)
        assert (command[part] / height[part]).max() == pytest.approx(1.0, abs=2e-3)


def test_a_random_command_is_a_sequence_of_maximal_length():
    """Of a register of n bits: 2^n - 1 values, then again; one more of one end than the other."""
    drawn = _random(2 * (2**_REGISTER - 1) * 3, 3)[::3]
    first, second = np.split(drawn, 2)
    assert np.array_equal(first, second)
    assert first.sum() == 1.0
    spectrum = np.abs(np.fft.fft(first))[1:] ** 2  # white
    assert spectrum == pytest.approx(np.full(len(first) - 1, len(first) + 1.0))
