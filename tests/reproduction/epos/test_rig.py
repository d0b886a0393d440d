"""Arming of the rigs in examples, with models in the place of their devices; nothing is opened."""

from pathlib import Path

import pytest

from orchestrator import ArmingError, read_experiment, run_experiment
from orchestrator.experiment.prepare.run_settings import RunSettings
from orchestrator.experiment.prepare.system_reader import SystemReader
from orchestrator.experiment.run.arming import armed
from orchestrator.experiment.runner import prepared_cases

EXAMPLES = Path(__file__).parents[3] / "examples"


def armings(file, *cases):
    experiment, reader = read_experiment(EXAMPLES / file), SystemReader((EXAMPLES / file).parent)
    settings = RunSettings(only=cases)
    experiment, prepared, _ = prepared_cases(experiment, reader, settings)
    return armed(experiment, prepared, reader, settings)


def test_capture_is_granted_and_grows_as_its_simulation():
    (found,) = armings("epos/rig.toml", "capture").values()
    assert found.is_granted
    (line,) = found.lines
    assert line.growth == pytest.approx(-0.0298748, rel=1e-4)  # simulated, fitted over 20 s
    assert line.margins.delay.value == pytest.approx(17.85e-3, rel=1e-3)


@pytest.mark.slow
def test_above_the_margin_nothing_is_opened(tmp_path):
    file = EXAMPLES / "epos/rig_unstable.toml"
    told = r"case 'unstable': arming is refused: .* it grows with \+0\.0506\d* 1/s at 0\.5197 Hz"
    with pytest.raises(ArmingError, match=told):
        run_experiment(read_experiment(file), file.parent, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_docking_is_armed_with_its_compensation_only():
    found = armings("famdc/rig.toml")
    assert {name: one.is_granted for name, one in found.items()} == {
        "compensated": True,
        "uncompensated": False,
    }
