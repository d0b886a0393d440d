"""Which command a hexapod took, by its reply to MOV?."""

import pytest

from hw_adapters.pi_gcs.codec import AXES, last_digits
from hw_adapters.pi_gcs.targets import Targets
from orchestrator.rig.devices import WireFormatError


def reply(decimals=7, **values):
    return [f"{axis}={values.get(axis, 0.0):.{decimals}f}" for axis in reversed(AXES)]


def pose(**values):
    return dict.fromkeys(AXES, 0.0) | values


@pytest.mark.parametrize("decimals", [4, 7])
def test_the_newest_target_that_the_controller_has_is_taken(decimals):
    targets = Targets()
    targets.see(reply(decimals, X=3.0))  # of an earlier run
    assert (targets.says, targets.taken) == (False, 0)
    for k in range(1, 6):
        targets.send(pose(X=0.01234567 * k, W=-1.0))
    targets.see(reply(decimals, X=0.01234567 * 3, W=-1.0))
    assert (targets.says, targets.taken) == (True, 3)
    targets.see(reply(decimals, X=0.01234567 * 2, W=-1.0))  # it does not go back
    assert targets.taken == 3
    targets.see(reply(decimals, X=0.01234567 * 5, W=-1.1))
    assert targets.taken == 3
    targets.see(reply(decimals, X=0.01234567 * 5, W=-1.0))
    assert targets.taken == 5


def test_a_command_that_is_not_sent_again_is_taken_with_the_one_before():
    targets = Targets()
    for _ in range(4):
        targets.send(pose(X=1.0))
    targets.see(reply(X=1.0))
    assert targets.taken == 4


def test_what_is_about_other_axes_is_refused():
    with pytest.raises(WireFormatError):
        Targets().see(["X=1.0", "Y=2.0"])


def test_the_last_digit_is_that_of_the_number_with_the_fewest():
    assert last_digits(["X=1.25", "Y=-0.1000"]) == pytest.approx(0.005)
    assert last_digits(["X=1"]) == 0.5
