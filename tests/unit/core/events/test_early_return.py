"""Units that return before the end of a step; see tests/fixtures/c_fmus/early3.c."""

import pytest

from orchestrator.core.diagnostics import StepError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import block, fmu
from orchestrator.core.system import System

pytestmark = pytest.mark.usefixtures("sample_blocks")
FIXED = ' canHandleVariableCommunicationStepSize="true"'
STATE = ' canGetAndSetFMUState="true" canSerializeFMUState="true"'


def without(attribute):
    return lambda text: text.replace(attribute, "")


def column(run, name):
    r = run.recording()
    return r.values[:, r.names.index(name)].tolist()


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel", "newton", "fixed-point"])
@pytest.mark.parametrize("first", ["early", "jumper"])
def test_all_go_as_far_as_the_unit_that_returned(c_fmu, algorithm, first):
    parts = {"early": fmu(c_fmu("early3")), "jumper": fmu(c_fmu("jumper3"))}
    system = System("early")
    for name in (first, *(set(parts) - {first})):
        values = {"u": 0.0} if name == "early" else {"at": 9.0}
        system = system.add(name, parts[name], **values)
    system = system.connect("early.x", "jumper.u")
    with Execution(system, step="100 ms", algorithm=algorithm) as run:
        run.advance("0.6 s")
        statistics = run.event_statistics()
        assert column(run, "early.met") == [0, 0, 0, 1, 1, 2, 2]
        assert column(run, "early.x")[-1] == pytest.approx(0.6, abs=1e-12)
        assert column(run, "jumper.y")[-1] == pytest.approx(0.6, abs=1e-12)
    # The level 0.25 lies inside a step; 0.5 on the grid, where nobody has to go back.
    assert (statistics.early_returns, statistics.split_steps, statistics.instants) == (1, 1, 3)


@pytest.mark.parametrize("lacks", [STATE, FIXED], ids=["state", "vary"])
def test_a_unit_that_cannot_go_back_forbids_early_return(c_fmu, lacks):
    system = (
        System("stiff")
        .add("early", fmu(c_fmu("early3")), u=0.0)
        .add("stiff", fmu(c_fmu("jumper3", without(lacks))), at=9.0)
        .connect("early.x", "stiff.u")
    )
    with Execution(system, step="100 ms") as run:
        run.advance("0.6 s")
        statistics = run.event_statistics()
        assert column(run, "early.met") == [0, 0, 0, 1, 1, 2, 2]  # at the next point each
    assert (statistics.early_returns, statistics.split_steps) == (0, 0)


@pytest.mark.parametrize(
    "lacks",
    [STATE, FIXED],
    ids=["state", "vary"],
)
@pytest.mark.parametrize("isolation", ["none", "process"])
def test_a_unit_that_returns_all_the_same_is_told_who_forbids_it(c_fmu, lacks, isolation, wording):
    system = (
        System("stiff")
        .add("early", fmu(c_fmu("early3")), u=0.0, defiant=1)
        .add("stiff", fmu(c_fmu("jumper3", without(lacks))), at=9.0)
        .connect("early.x", "stiff.u")
        .with_options("early", isolation=isolation)
    )
    with (
        Execution(system, step="100 ms") as run,
        wording.raises(StepError),
    ):
        run.advance("0.6 s")


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel"])
def test_an_input_that_jumps_is_an_event_at_the_begin_of_the_step(c_fmu, algorithm):
    system = (
        System("jump")
        .add("early", fmu(c_fmu("early3")), level=9.0)
        .add("source", block("source"), at=0.15)
        .add("gain", block("gain"), k=1.0)
        .connect("source.y", "early.u")
        .connect("early.x", "gain.u")
    )
    with Execution(system, step="100 ms", algorithm=algorithm) as run:
        run.advance("0.5 s")
        statistics = run.event_statistics()
        assert column(run, "early.x")[-1] == pytest.approx(0.5, abs=1e-12)
    assert (statistics.early_returns, statistics.split_steps, statistics.instants) == (1, 0, 2)


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel"])
def test_an_input_that_moves_beyond_a_level_is_kept_on_the_way_back(c_fmu, algorithm):
    """The unit handles its event with the input that made it return, not with the one before."""
    system = (
        System("ramp")
        .add("ramp", fmu(c_fmu("early3")), u=0.0, level=9.0)
        .add("early", fmu(c_fmu("early3")), level=9.0)
        .add("gain", block("gain"), k=1.0)
        .connect("ramp.x", "early.u")
        .connect("early.x", "gain.u")
    )
    with Execution(system, step="100 ms", algorithm=algorithm) as run:
        run.advance("0.9 s")
        statistics = run.event_statistics()
        assert column(run, "early.x")[-1] == pytest.approx(0.9, abs=1e-12)
    assert (statistics.early_returns, statistics.split_steps, statistics.instants) == (1, 0, 2)


def test_adaptive_steps_do_without_early_return(c_fmu):
    system = System("early").add("early", fmu(c_fmu("early3")), u=0.0)
    system = system.add("gain", block("gain"), k=1.0).connect("early.x", "gain.u")
    with Execution(system, step="10 ms", algorithm="step-doubling") as run:
        run.advance("0.6 s")
        assert run.get("early.met") == 2
        assert run.event_statistics().early_returns == 0


def test_a_unit_that_nothing_listens_to_need_not_return_early(c_fmu):
    system = System("alone").add("early", fmu(c_fmu("early3")), u=0.0)
    with Execution(system, step="100 ms") as run:
        run.advance("0.6 s")
        assert column(run, "early.met") == [0, 0, 0, 1, 1, 2, 2]
        assert run.event_statistics().early_returns == 0


def test_early_return_can_be_left_out(c_fmu):
    system = System("early").add("early", fmu(c_fmu("early3")), u=0.0)
    system = system.add("gain", block("gain"), k=1.0).connect("early.x", "gain.u")
    with Execution(system, step="100 ms", early_return=False) as run:
        run.advance("0.6 s")
        assert column(run, "early.met") == [0, 0, 0, 1, 1, 2, 2]
        assert run.event_statistics().early_returns == 0
