import _thread
import logging
import threading

import numpy as np
import pytest

from orchestrator.core.diagnostics import CapabilityError, StepError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import block, fmu
from orchestrator.core.system import System

pytestmark = pytest.mark.usefixtures("sample_blocks")
ALGORITHMS = ["gauss-seidel", "jacobi"]


def two(probe, **values):
    """Two probes; everything that the first puts out, the second takes in."""
    return (
        System("two")
        .add("a", fmu(probe), u=2.0, n=5, flag=True, gain=3.0)
        .add("b", fmu(probe), **values)
        .connect("a.g", "b.u")
        .connect("a.m", "b.n")
        .connect("a.not_flag", "b.flag")
    )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_values_of_all_types_go_across(probe, algorithm):
    with Execution(two(probe), step="0.25 s", algorithm=algorithm) as run:
        run.advance("1 s")
        found = {name: run.get(f"b.{name}") for name in ("u", "n", "flag", "y", "g", "m")}
    assert found == {"u": 6.0, "n": 6.0, "flag": 0.0, "y": 6.0, "g": 12.0, "m": 7.0}


def test_first_row_is_consistent(probe):
    run = Execution(two(probe), step="1 s", algorithm="jacobi")
    first = dict(zip(run.recording().names, run.recording().values[0], strict=True))
    assert (first["a.g"], first["b.g"], first["b.m"], first["b.not_flag"]) == (6.0, 12.0, 7.0, 1.0)


def test_string_outputs_are_left_out(probe, wording):
    assert "a.label_out" not in Execution(two(probe), step="1 s").recording().names
    with wording.raises(CapabilityError):
        Execution(two(probe), step="1 s", record=["a.label_out"])


@pytest.mark.parametrize(
    "values",
    [
        {"discard_at": 2.0},
        {"error_at": 2.0},
        {"fatal_at": 2.0},
        {"nan_at": 2.0},
    ],
)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_failed_step_keeps_the_rows_before(probe, algorithm, values, wording):
    with Execution(two(probe, **values), step="0.5 s", algorithm=algorithm) as run:
        with wording.raises(StepError):
            run.advance("10 s")
        r = run.recording()
    assert r.time_ns.tolist() == [0, 5 * 10**8, 10**9, 15 * 10**8, 2 * 10**9]
    np.testing.assert_array_equal(r.values[:, r.names.index("b.y")], [0.0, 3.0, 6.0, 9.0, 12.0])
    assert run.time == 2.0


def test_messages_go_to_the_component_s_logger(probe, caplog):
    with (
        caplog.at_level(logging.DEBUG, "orchestrator.fmu"),
        Execution(two(probe, error_at=1.0), step="1 s") as run,
        pytest.raises(StepError),
    ):
        run.advance("5 s")
    assert [(r.name, r.levelno, r.message) for r in caplog.records] == [
        ("orchestrator.fmu.a", logging.INFO, "init: ready"),
        ("orchestrator.fmu.b", logging.INFO, "init: ready"),
        ("orchestrator.fmu.b", logging.ERROR, "step: asked to fail"),
        ("orchestrator.fmu.a", logging.INFO, "end: terminated"),
    ]


def test_messages_of_the_initialisation_are_not_lost(probe, caplog):
    with caplog.at_level(logging.DEBUG, "orchestrator.fmu"), Execution(two(probe), step="1 s"):
        pass
    assert caplog.messages == ["init: ready", "end: terminated", "init: ready", "end: terminated"]


def test_interrupt_between_steps(probe):
    """Ctrl-C is seen within a fraction of a second though no Python runs; the run can go on."""
    with Execution(two(probe), step="1 us", record=[]) as run:
        timer = threading.Timer(0.2, _thread.interrupt_main)
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            run.advance("1e6 s")
        timer.join()
        reached = run.time
        run.step()
        assert 0.0 < reached < run.time
        assert len(run.recording().time_ns) == round(run.time * 1e6) + 1


def test_refused_initialisation_names_the_component(probe, wording):
    with wording.raises(StepError):
        Execution(two(probe, refuse=True), step="1 s")


def test_fmu_and_block_in_one_ring(probe):
    """An integrator in C and a gain in Python: y' = 2 - 4 y, explicit Euler by hand."""
    system = (
        System("ring")
        .add("plant", fmu(probe), n=0, flag=False)
        .add("control", block("gain"), k=-4.0)
        .connect("plant.y", "control.u")
        .connect("control.y", "plant.u", offset=2.0)
    )
    run = Execution(system, step="0.125 s", algorithm="gauss-seidel")
    run.advance("2 s")
    r = run.recording()
    expected = [0.0]
    for _ in range(16):
        expected.append(expected[-1] + 0.125 * (2.0 - 4.0 * expected[-1]))
    # All numbers are short binary fractions: nothing is rounded.
    np.testing.assert_array_equal(r.values[:, r.names.index("plant.y")], expected)


def test_a_string_is_carried_but_not_recorded(probe, make_fmu, wording):
    path = make_fmu(
        lambda text: text.replace(
            'name="label" valueReference="0" causality="parameter" variability="fixed"',
            'name="label" valueReference="0" causality="input" variability="discrete"',
        )
    )
    system = (
        System("s")
        .add("a", fmu(probe), u=0.0, n=0, flag=False, label="from a")
        .add("b", fmu(path), u=0.0, n=0, flag=False)
        .connect("a.label_out", "b.label")
    )
    execution = Execution(system, step="1 s", record=[])
    execution.advance("1 s")
    assert execution.get("b.label_out") == "from a"
    with wording.raises(CapabilityError):
        Execution(system, step="1 s", record=["a.label_out"])
