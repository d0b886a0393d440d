"""Times that are none are refused by each kind of exported FMU, in a sentence, and at once."""

from pathlib import Path

import fmpy
import pytest
from fmpy.fmi1 import FMICallException

from orchestrator import build_block
from orchestrator.core.simunits import fmu
from orchestrator.core.system import System
from orchestrator.export.system import export_system

FMUS = Path(__file__).parents[3] / "fmus"
STEP = 0.001


@pytest.fixture(scope="module")
def exported(small_fmu, tmp_path_factory):
    """The FMU of a kind and version of FMI."""
    folder = tmp_path_factory.mktemp("times")

    def make(kind, fmi):
        if kind == "plant":
            from orchestrator.export import build_recipe

            return build_recipe(FMUS / "AttachedBody.toml", folder, fmi=(f"{fmi}.0",)).path
        if kind == "block":
            return build_block("spring_dashpot", folder, fmi=(f"{fmi}.0",)).path
        system = System("s").add("a", fmu(small_fmu("rude")))
        return export_system(system, folder / f"s{fmi}.fmu", fmi=fmi, step="1 ms")

    return make


@pytest.fixture
def stepping(tmp_path):
    """An instance that stands at t = 0 and what steps it."""
    made = []

    def make(path, fmi):
        description, folder = fmpy.read_model_description(path), fmpy.extract(path, tmp_path / "x")
        slave = fmpy.instantiate_fmu(folder, description, "CoSimulation")
        made.append(slave)
        if fmi == 2:
            slave.setupExperiment(startTime=0.0)
            slave.enterInitializationMode()
        else:
            slave.enterInitializationMode(startTime=0.0)
        slave.exitInitializationMode()
        return lambda time, length: slave.doStep(time, length)

    yield make
    for slave in made:
        slave.freeInstance()


@pytest.mark.native
@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("kind", ["plant", "block", "system"])
@pytest.mark.parametrize(
    ("time", "length"),
    [
        (float("inf"), STEP),
        (float("-inf"), STEP),
        (float("nan"), STEP),
        (float("inf"), 0.0123456),
        (0.5, STEP),
        (-STEP, STEP),
        (1e300, STEP),
        (0.0, float("inf")),
        (0.0, float("nan")),
        (0.0, -STEP),
    ],
)
def test_no_such_step(exported, stepping, kind, fmi, time, length):
    step = stepping(exported(kind, fmi), fmi)
    with pytest.raises(FMICallException):
        step(time, length)


@pytest.mark.native
@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("kind", ["plant", "block", "system"])
def test_next_step_is_done(exported, stepping, kind, fmi):
    step = stepping(exported(kind, fmi), fmi)
    step(0.0, STEP)
    step(STEP, STEP)


@pytest.mark.native
@pytest.mark.parametrize("fmi", [2, 3])
def test_system_takes_whole_steps_of_its_own(exported, stepping, fmi):
    step = stepping(exported("system", fmi), fmi)
    with pytest.raises(FMICallException):
        step(0.0, 0.0123456)
