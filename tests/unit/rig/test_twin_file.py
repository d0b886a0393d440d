"""The file of a twin: what is written is read back, and what does not fit is told."""

import pytest
from robot_twin import PAIR, REST, TWIN

from orchestrator.core.diagnostics import DescriptionError, LoadError, UnknownNameError
from orchestrator.rig.hardware.twin_file import SignalPair, read_twin, twin_text


def test_what_is_written_is_read_back(tmp_path):
    path = tmp_path / "robot.twin.toml"
    path.write_text(twin_text(TWIN))
    assert read_twin(path) == TWIN


def test_the_delay_of_a_loop_is_that_of_device_and_way():
    assert PAIR.loop_delay.value == pytest.approx(0.020)
    assert PAIR.loop_delay.low == pytest.approx(0.0199)
    assert REST.loop_delay == REST.transit


def test_all_that_does_not_fit_is_told_at_once(tmp_path):
    path = tmp_path / "robot.twin.toml"
    text = twin_text(TWIN).replace("gain = ", "gian = ", 1).replace("order = 2", "order = 1")
    path.write_text(text)
    with pytest.raises(DescriptionError) as caught:
        read_twin(path)
    told = str(caught.value)
    assert "unknown key 'pair.0.gian'. Did you mean 'gain'" in told
    assert "'damping' with order 2" in told


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"delay": None}, "with a command, expected also delay"),
        ({"command": None}, "without a command"),
        ({"delay": {"value": 1.0, "low": 2.0, "high": 3.0}}, "low <= value <= high"),
    ],
)
def test_a_pair_is_whole(change, told):
    with pytest.raises(ValueError, match=told):
        SignalPair.model_validate(PAIR.model_dump() | change)


def test_a_file_that_is_none_is_refused(tmp_path, wording):
    with wording.raises(LoadError):
        read_twin(tmp_path / "none.toml")
    (tmp_path / "other.toml").write_text("a = [")
    with wording.raises(LoadError):
        read_twin(tmp_path / "other.toml")


def test_an_unknown_response_lists_those_that_are(wording):
    assert TWIN.response("fz") is REST
    with wording.raises(UnknownNameError):
        TWIN.response("y")
