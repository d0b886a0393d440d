"""Growth of a contact loop whose spring and damper have the same delay, or not."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.loops.contact import ContactLoop
from orchestrator.loops.prediction import ContactLoopSpec
from orchestrator.study import read_experiment, run_experiment

pytestmark = pytest.mark.usefixtures("no_pictures", "plants")
EXAMPLE = Path(__file__).parents[3] / "examples" / "impact"
MAPS = read_experiment(EXAMPLE / "rig_maps.toml")
SPRING = "robot.x -> sensor.x"


def growth(folder: Path, *, predict: dict[str, object] | None = None, **update: object):
    """Run the rig with the stiffest rope, 24 ms late, and return the growth that is measured."""
    case = MAPS.case["latched"]
    measure = case.measure["growth"]
    if predict is not None:
        measure = measure.model_copy(update={"predict": ContactLoopSpec(**predict)})
    given = {
        "delays": {SPRING: "24 ms"},
        "set": {"sensor.k": 2089.0},
        "measure": {"growth": measure},
    }
    case = case.model_copy(update={**given, **update})
    rig = MAPS.model_copy(update={"case": {"latched": case}, "sweep": {}, "figure": {}})
    return run_experiment(rig, EXAMPLE, folder)


def test_a_damper_without_a_delay_is_predicted_without(tmp_path):
    found = growth(tmp_path).cases["latched"].measured["growth"]
    assert found.details["predicted"] == pytest.approx(9.063783, abs=1e-5)  # of the loop's account
    assert found.value == pytest.approx(found.details["predicted"], abs=4e-3)
    alike = ContactLoop(1.47, 2089.0, 10.0, 0.024).growth_rate
    assert alike > found.details["predicted"] + 1.5


def test_a_plain_master_makes_two_delays_of_it(tmp_path):
    """Held over 4 ms, the damper is 2 ms late and the spring 26 ms."""
    outcome = growth(tmp_path, delay="plain", step="4 ms")
    found = outcome.cases["latched"].measured["growth"]
    exact = 9.063783
    assert found.details["predicted"] > exact + 0.3
    assert found.value == pytest.approx(found.details["predicted"], abs=0.1)


def test_a_number_belongs_to_no_loop(tmp_path):
    predict = {"mass": 1.47, "stiffness": "sensor.k", "damping": 10.0}
    (problem,) = growth(tmp_path, predict=predict).problems
    assert (
        "predict.damping: expected one delay of all the loops, found: 0 ms, 24 ms; name the"
        " parameter of a component that is in one of them"
    ) in problem


def test_without_loops_there_is_nothing_to_predict(wording):
    result = SimpleNamespace(name="a", loops=())
    spec = ContactLoopSpec(mass=1.0, stiffness=1.0, damping=1.0)
    with wording.raises(DescriptionError):
        spec.growth_rate(result, None, {})
