"""Growth that is predicted with the values and the delays of a run, in an experiment file."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.core.coupling import LoopDelay
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.system import (
    Causality,
    Component,
    Connector,
    Source,
    SourceKind,
    System,
    closed_loops,
)
from orchestrator.loops.prediction import SampledLoopSpec, totals_of
from orchestrator.study import read_experiment, run_experiment
from orchestrator.study.experiment import Experiment

pytestmark = pytest.mark.usefixtures("no_pictures")
EXAMPLE = Path(__file__).parents[3] / "examples" / "famdc"
MAPS = read_experiment(EXAMPLE / "maps.toml")


def changed(case: str, predict: dict[str, object] | None = None, **update: object) -> Experiment:
    """The maps' experiment with one case changed, and with it what its growth is predicted by."""
    old = MAPS.case[case]
    growth = old.measure["growth"]
    assert isinstance(growth.predict, SampledLoopSpec)
    loop = SampledLoopSpec.model_validate({**growth.predict.model_dump(), **(predict or {})})
    measure = {"growth": growth.model_copy(update={"predict": loop})}
    new = old.model_copy(update={"measure": measure, **update})
    return MAPS.model_copy(update={"case": {case: new}, "sweep": {}, "figure": {}, "animation": {}})


def late(case: str, delay: str) -> dict[str, object]:
    faults = MAPS.case[case].fault
    return {**faults, "late": faults["late"].model_copy(update={"delay": delay})}


def growth(experiment: Experiment, folder: Path) -> tuple[float, float]:
    (case,) = experiment.case
    outcome = run_experiment(experiment, EXAMPLE, folder)
    found = outcome.cases[case].measured["growth"]
    return found.value, found.details["predicted"]


def test_a_fault_on_any_line_of_a_loop_counts():
    """Lines that act alike are one loop, of which one ring is listed."""
    ports = {
        name: Connector(name, Causality.INPUT if name[0] == "u" else Causality.OUTPUT)
        for name in ("u0", "u1", "y0", "y1")
    }
    part = Component("part", Source(SourceKind.BLOCK, "part"), ports)
    system = System("pair").add("a", part).add("b", part)
    for i in range(2):
        system = system.connect(f"a.y{i}", f"b.u{i}").connect(f"b.y{i}", f"a.u{i}")
    (loop,) = closed_loops(system)
    assert (len(loop.connections), loop.count, len(loop.lines)) == (2, 4, 4)
    delay = LoopDelay((loop,), 0, 1e6)
    assert totals_of(delay, loop, {}) == {1_000_000}
    first, second = (dict.fromkeys([f"a.y{i} -> b.u{i}"], 5) for i in range(2))
    for one in (first, second):
        assert totals_of(delay, loop, one) == {1_000_000, 1_000_005}
    assert totals_of(delay, loop, first | second) == {1_000_005}


@pytest.mark.slow
@pytest.mark.parametrize("delay", ["0 ms", "2.5 ms", "10 ms"])
def test_without_compensation(plants, tmp_path, delay):
    experiment = changed("late", fault=late("late", delay))
    found, predicted = growth(experiment, tmp_path)
    assert predicted > 0.9
    # A delay of half steps is a straight line between samples in both.
    assert found == pytest.approx(predicted, abs=2e-3)


@pytest.mark.slow
def test_a_declared_delay_counts_as_the_schedule_has_it(plants, tmp_path):
    """Plain: 3 ms are read with the newest sample that old, one step later than without a delay."""
    line = {"dynamics.position -> robot.position_command": "3 ms"}
    found, predicted = growth(changed("plain", delays=line), tmp_path)
    without = growth(changed("plain"), tmp_path)[1]
    assert predicted > without + 0.2
    assert found == pytest.approx(predicted, abs=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["gauss-seidel", "jacobi"])
def test_with_compensation(plants, tmp_path, algorithm):
    """Jacobi steps all at once: later by steps, which the loops of the run say."""
    experiment = changed("believed", algorithm=algorithm, stop="30 s")
    found, predicted = growth(experiment, tmp_path)
    assert found == pytest.approx(predicted, abs=1e-3)


@pytest.mark.slow
def test_a_late_force(plants, tmp_path):
    experiment = changed("late_force", fault=late("late_force", "5 ms"))
    found, predicted = growth(experiment, tmp_path)
    assert predicted > 0.01
    assert found == pytest.approx(predicted, abs=2e-3)  # noise, and a stiffness that is estimated


@pytest.mark.parametrize(
    "predict",
    [
        {"stiffness": "contact.kk"},
        {"half_sample": "robot.width"},
        {"force_line": "a.b -> c.d"},
        {"position_line": None},
    ],
)
def test_what_is_not_there_is_told_before_the_run(plants, tmp_path, predict, wording):
    with wording.raises(DescriptionError, code="EXP102", key="case.believed.measure.growth"):
        growth(changed("believed", predict), tmp_path)


@pytest.mark.slow
def test_a_line_without_one_common_delay_is_refused(plants, tmp_path):
    """The command is in all loops: those of the estimates have another delay."""
    line = {"force_line": "dynamics.position -> robot.position_command"}
    outcome = run_experiment(changed("compensated", line), EXAMPLE, tmp_path)
    assert "one delay common to all loops through dynamics.position" in outcome.problems[0]
