"""What a motion has to show before it is enough, and how often a device is moved for it."""

import pytest
from robot_twin import TWIN

from orchestrator import DescriptionError
from orchestrator.rig.arming.margins import Reserve
from orchestrator.rig.hardware.twin_file import Estimate
from orchestrator.rig.identification.before_arming import with_longer_motions
from orchestrator.rig.identification.device_run import Procedure
from orchestrator.rig.identification.identified_device import LittleEvidenceError, expect_known

NEEDED = Reserve(2e-3, 1.2), ("x",)


def estimate(value, low, high):
    return Estimate(value=value, low=low, high=high)


def twin_with(**changes):
    return TWIN.model_copy(update={"pair": (TWIN.pair[0].model_copy(update=changes),)})


def test_intervals_within_the_reserves_are_enough():
    enough = twin_with(delay=estimate(0.016, 0.012, 0.0179), gain=estimate(-1.0, -1.19, -0.5))
    expect_known(enough, *NEEDED)


@pytest.mark.parametrize(
    "changes",
    [
        {"delay": estimate(0.016, 0.015, 0.0185)},
        {"gain": estimate(1.0, 0.5, 1.3)},
        {"gain": estimate(0.0, -1.0, 1.0)},
    ],
)
def test_what_is_missing_is_told_with_its_figure(changes, wording):
    with wording.raises(LittleEvidenceError):
        expect_known(twin_with(**changes), *NEEDED)


def test_of_what_nothing_reads_nothing_is_needed():
    expect_known(twin_with(gain=estimate(0.0, -1.0, 1.0)), NEEDED[0], ("y",))


def moved(enough):
    """Return an identification that sees enough from a duration on, and the durations it got."""
    durations = []

    def identified(procedure):
        durations.append((procedure.duration, procedure.compared_duration))
        if procedure.duration < enough:
            raise LittleEvidenceError("robot: no response followed 'dx'")
        return "found"

    return identified, durations


def test_a_motion_is_made_longer_until_it_shows_enough():
    identified, durations = moved(enough=4.0)
    assert (
        with_longer_motions(identified, Procedure(duration=1.2, compared_duration=0.6)) == "found"
    )
    assert durations == [(1.2, 0.6), (2.4, 1.2), (4.8, 2.4)]


def test_in_the_end_it_is_given_up_with_what_is_missing(wording):
    identified, durations = moved(enough=100.0)
    with wording.raises(LittleEvidenceError):
        with_longer_motions(identified, Procedure(duration=1.2, compared_duration=0.6))
    assert len(durations) == 4


def test_what_no_longer_motion_would_mend_is_told_at_once(wording):
    def refused(procedure):
        raise DescriptionError("an amplitude of 1 m leaves its range")

    with wording.raises(DescriptionError):
        with_longer_motions(refused, Procedure())
