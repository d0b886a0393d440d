"""Events that units foresee or come upon, and those that do not end; see tests/fixtures/c_fmus."""

from itertools import permutations

import numpy as np
import pytest

from orchestrator.core.diagnostics import StepError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import block, fmu
from orchestrator.core.system import System

pytestmark = pytest.mark.usefixtures("sample_blocks")


def column(run, name):
    r = run.recording()
    return r.values[:, r.names.index(name)].tolist()


def test_rows_hold_the_values_after_the_events(c_fmu):
    system = System("jump").add("jumper", fmu(c_fmu("jumper3")), at=0.2, u=0.0)
    with Execution(system, step="100 ms") as run:
        run.advance("0.3 s")
        assert column(run, "jumper.y") == pytest.approx([0.0, 0.1, 1.2, 1.3], abs=1e-15)
        assert column(run, "jumper.jumps") == [0, 0, 1, 1]


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel"])
def test_blocks_see_a_jump_in_the_next_exchange(c_fmu, algorithm):
    system = (
        System("jump")
        .add("gain", block("gain"), k=2.0)
        .add("jumper", fmu(c_fmu("jumper3")), at=0.2, u=0.0)
        .connect("jumper.y", "gain.u")
    )
    with Execution(system, step="100 ms", algorithm=algorithm) as run:
        run.advance("0.3 s")
        # Jacobi gives the block what was there before its step; Gauss-Seidel what comes of the
        # step, which at 0.2 s is still without the jump: that happens when all have got there.
        before = [0.0, 0.0, 0.2, 2.4] if algorithm == "jacobi" else [0.0, 0.2, 0.4, 2.6]
        assert column(run, "gain.y") == pytest.approx(before, abs=1e-15)


def test_a_delayed_line_passes_the_value_after_the_event_on(c_fmu):
    system = (
        System("late")
        .add("jumper", fmu(c_fmu("jumper3")), at=0.2, u=0.0)
        .add("gain", block("gain"), k=1.0)
        .connect("jumper.y", "gain.u", delay="0.2 s")
    )
    with Execution(system, step="100 ms", algorithm="jacobi", delay="plain") as run:
        run.advance("0.6 s")
        held = [0.0, 0.0, 0.0, 0.0, 0.1, 1.2, 1.3]  # the step from 0.4 s reads 0.2 s
        assert column(run, "gain.y") == pytest.approx(held, abs=1e-15)


@pytest.mark.parametrize("mores", [(1, 1), (1, 0)], ids=["both-add", "one-adds"])
def test_values_that_change_for_ever_are_named(c_fmu, mores, wording):
    path = c_fmu("restless3")
    system = (
        System("restless")
        .add("one", fmu(path), at=0.1, more=mores[0])
        .add("other", fmu(path), more=mores[1])
        .connect("one.y", "other.u")
        .connect("other.y", "one.u")
    )
    with Execution(system, step="50 ms", algorithm="jacobi") as run:
        with wording.raises(StepError) as e:
            run.advance("0.2 s")
        assert "after 100 rounds" in str(e.value)
        assert "'one.u'" in str(e.value) or "'other.u'" in str(e.value)
        assert run.recording().time_ns.tolist() == [0, 50_000_000]


def test_updates_that_are_asked_for_for_ever_are_named(c_fmu, wording):
    system = System("restless").add("one", fmu(c_fmu("restless3")), at=0.1, more=0, u=0)
    with (
        Execution(system, step="50 ms") as run,
        wording.raises(StepError),
    ):
        run.advance("0.2 s")


@pytest.mark.parametrize("order", [*permutations(("jumper", "one", "two"))], ids="-".join)
def test_discrete_values_go_through_a_chain_without_clocks(c_fmu, order):
    parts = {
        "jumper": (fmu(c_fmu("jumper3")), {"at": 0.2, "u": 0.0}),
        "one": (fmu(c_fmu("restless3")), {}),
        "two": (fmu(c_fmu("restless3")), {"more": 10}),
    }
    system = System("chain")
    for name in order:
        system = system.add(name, parts[name][0], **parts[name][1])
    system = system.connect("jumper.jumps", "one.u").connect("one.y", "two.u", factor=2.0)
    with Execution(system, step="100 ms") as run:
        run.advance("0.3 s")
        assert column(run, "one.y") == [0, 0, 2, 2]  # 1 + 1
        assert column(run, "two.y") == [0, 0, 14, 14]  # 2 * 2 + 10
        assert run.event_statistics().instants == 2  # that of the start, and the jump


@pytest.mark.parametrize("stored", [False, True], ids=["in-memory", "stored"])
def test_a_run_goes_on_from_a_checkpoint_between_ticks(c_fmu, stored):
    system = (
        System("ticks")
        .add("source", fmu(c_fmu("source3")), period=0.0173)
        .add("counter", fmu(c_fmu("counter3")))
        .add("jumper", fmu(c_fmu("jumper3")), at=0.0333, u=1.0)
        .connect("source.tick", "counter.tick")
        .connect("source.count", "counter.value")
    )
    options = {"step": "5 ms", "algorithm": "gauss-seidel"}
    with Execution(system, **options) as whole, Execution(system, **options) as run:
        whole.advance("0.1 s")
        run.advance("0.02 s")
        checkpoint = run.save()
        run.advance("0.05 s")
        if stored:
            with Execution(system, **options) as other:
                other.restore(checkpoint.stored())
                other.advance("0.1 s")
                found = other.recording().values
        else:
            run.restore(checkpoint)
            run.advance("0.1 s")
            found = run.recording().values
        np.testing.assert_array_equal(found, whole.recording().values)


def test_a_run_goes_on_after_events_that_did_not_end(c_fmu, wording):
    path = c_fmu("restless3")
    system = System("restless").add("one", fmu(path), at=0.1, more=0, u=0)
    with Execution(system, step="50 ms") as run:
        run.step()
        checkpoint = run.save()
        for _ in range(2):
            with wording.raises(StepError):
                run.step()
            run.restore(checkpoint)
        assert run.time_ns == 50_000_000


def test_a_stored_state_that_lacks_the_times_of_events_is_refused(c_fmu, wording):
    system = System("jump").add("jumper", fmu(c_fmu("jumper3")), u=0.0)
    with (
        Execution(system, step="100 ms") as run,
        wording.raises(StepError),
    ):
        run.units[0].deserialize(b"short")


def test_a_unit_in_a_process_of_its_own_settles_its_events_alone(c_fmu):
    system = System("apart").add("jumper", fmu(c_fmu("jumper3")), at=0.2, u=0.0)
    apart = system.with_options("jumper", isolation="process")
    with Execution(apart, step="100 ms") as run:
        run.advance("0.3 s")
        assert run.event_statistics().instants == 0


@pytest.mark.slow
def test_units_that_need_processes_of_their_own_settle_their_events_alone(c_fmu):
    def once(text):
        return text.replace(
            "hasEventMode", 'canBeInstantiatedOnlyOncePerProcess="true" hasEventMode'
        )

    path = c_fmu("jumper3", once)
    system = System("apart").add("one", fmu(path), at=9.0, u=0.0).add("two", fmu(path), at=9.0)
    with Execution(system.connect("one.y", "two.u"), step="100 ms") as run:
        run.advance("0.3 s")
        assert column(run, "two.y") == pytest.approx([0.0, 0.1, 0.2, 0.3], abs=1e-15)
        assert run.event_statistics().instants == 0
