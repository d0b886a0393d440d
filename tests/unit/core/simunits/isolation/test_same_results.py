import numpy as np
import pytest

from orchestrator.core.diagnostics import LoadError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import block, fmu
from orchestrator.core.system import System

pytestmark = pytest.mark.usefixtures("sample_blocks")
ALGORITHMS = ["gauss-seidel", "jacobi"]


def mixed(probe, isolated=()):
    """An FMU, blocks, an array, Integers and Booleans in a loop with a delay off the grid."""
    system = (
        System("mixed")
        .add("plant", fmu(probe), n=3)
        .add("control", block("lag"), a=-3.0, b=2.0, d=0.1)
        .add("matrix", block("matrix"), u=(0.1, -0.7))
        .add("typed", block("typed"))
        .connect("plant.y", "control.u", delay="3.7 ms")
        .connect("control.y", "plant.u", factor=-1.0, offset=0.3)
        .connect("plant.m", "typed.n")
        .connect("plant.not_flag", "typed.flag")
        .connect("typed.not_flag", "plant.flag", delay="5 ms")
    )
    for name in isolated:
        system = system.with_options(name, isolation="process")
    return system


def run(system, algorithm="gauss-seidel"):
    with Execution(system, step="1 ms", algorithm=algorithm) as execution:
        execution.advance("0.5 s")
        return execution.recording()


def assert_equal(one, other):
    assert one.names == other.names
    np.testing.assert_array_equal(one.time_ns, other.time_ns)
    # As bytes: also the sign of zero is the same.
    assert one.values.tobytes() == other.values.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(
    "isolated", [["plant"], ["control", "matrix"], ["plant", "control", "matrix", "typed"]]
)
def test_bit_for_bit(probe, isolated, algorithm):
    assert_equal(run(mixed(probe, isolated), algorithm), run(mixed(probe), algorithm))


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_go_back_and_on(probe, algorithm):
    found = []
    for isolated in ([], ["plant", "control", "matrix", "typed"]):
        with Execution(mixed(probe, isolated), step="1 ms", algorithm=algorithm) as execution:
            execution.advance("0.2 s")
            checkpoint = execution.save()
            execution.advance("0.3 s")
            execution.restore(checkpoint)
            execution.advance("0.5 s")
            found.append(execution.recording())
    assert_equal(*found)


@pytest.mark.slow
@pytest.mark.parametrize("target", [[], ["crash"]])
@pytest.mark.parametrize("source", [[], ["crash"]])
def test_a_stored_checkpoint_goes_into_and_out_of_a_process(crash, source, target):
    def system(isolated):
        made = System("s").add("crash", fmu(crash), u=2.0).add("m", block("matrix"), u=(1.0, 2.0))
        for name in isolated:
            made = made.with_options(name, isolation="process")
        return made

    expected = run(system([]))
    with Execution(system(source), step="1 ms") as execution:
        execution.advance("0.2 s")
        stored = execution.save().stored()
    with Execution(system(target), step="1 ms") as execution:
        execution.restore(stored)
        execution.advance("0.5 s")
        assert_equal(execution.recording(), expected)


def test_a_damaged_state_is_refused(probe):
    """What a worker raises is what the same unit raises here."""
    with Execution(mixed(probe, ["matrix"]), step="1 ms") as execution:
        unit = next(unit for unit in execution.units if unit.name == "matrix")
        with pytest.raises(Exception, match="reading its state from bytes") as here:
            unit.deserialize(b"no state")
        execution.step()  # and the worker serves on
    assert not isinstance(here.value, LoadError)


@pytest.mark.slow
def test_values_from_outside(probe):
    """Inputs that are set between steps, and values that are read, go through the process."""
    found = []
    for isolated in ([], ["matrix", "plant"]):
        system = mixed(probe, isolated)
        with Execution(system, step="1 ms", record=["plant.y"]) as execution:
            execution.step(10)
            execution.set("matrix.u", [3.0, 4.0])
            execution.set("plant.n", 7)
            execution.step(10)
            found.append((execution.get("matrix.total").tolist(), execution.get("plant.m")))
            assert execution.get("plant.label") == ""
    assert found[0] == found[1]
    assert found[0][1] == 8.0


@pytest.mark.slow
def test_two_systems_at_once(probe):
    expected = run(mixed(probe))
    isolated = ["plant", "control"]
    with (
        Execution(mixed(probe, isolated), step="1 ms") as one,
        Execution(mixed(probe, isolated), step="1 ms") as other,
    ):
        for _ in range(5):
            one.step(100)
            other.step(100)
        assert_equal(one.recording(), expected)
        assert_equal(other.recording(), expected)


def test_facts_do_not_tell_where_a_unit_runs(probe):
    with (
        Execution(mixed(probe), step="1 ms") as here,
        Execution(mixed(probe, ["plant"]), step="1 ms") as there,
    ):
        assert here._checkpointer._facts == there._checkpointer._facts
