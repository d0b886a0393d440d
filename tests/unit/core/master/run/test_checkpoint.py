"""Saving and restoring: a restored run is the uninterrupted one, bit for bit."""

import logging
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from orchestrator import read_system, start
from orchestrator.core.diagnostics import FmuError, LoadError, SoftdockError, StepError
from orchestrator.core.simunits import block, fmu
from orchestrator.core.system import Causality, Fault, Jitter, System, TransportDelay, Variation
from orchestrator.export import Solver, build_model
from orchestrator.export.codegen import compiler

pytestmark = pytest.mark.usefixtures("sample_blocks")
ALGORITHMS = ["gauss-seidel", "jacobi"]
EPOS = Path(__file__).parents[5] / "examples" / "epos"
FILES = ["SystemStructure.ssd", "ideal.ssd", "capture.ssd", "capture_axis.ssd"]


def equal(one, two):
    a, b = one.recording(), two.recording()
    assert a.names == b.names
    np.testing.assert_array_equal(a.time_ns, b.time_ns)
    # As bytes: a zero of the other sign is another number.
    assert a.values.tobytes() == b.values.tobytes()


def epos(file, **options):
    return start(read_system(EPOS / file), step="1 ms", **options)


def sample_system():
    """Delays with and without whole steps, arrays, states, and two rings."""
    return (
        System("samples")
        .add("a", block("strict_lag"), x0=1.0)
        .add("b", block("gain"), k=-2.0)
        .add("c", block("integrator"), y0=0.25)
        .add("m", block("matrix"), u=(1.0, -3.0))
        .add("t", block("source"), at=0.02)
        .connect("a.y", "b.u", delay="2.5 ms")
        .connect("b.y", "a.u")
        .connect("t.y", "c.u", delay="7 ms")
    )


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("delay", ["mean", "plain"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("file", FILES)
def test_epos(plants, file, algorithm, delay, stored):
    """FMUs, blocks and delays: back, on, back again, and each time to the end."""
    options = {"algorithm": algorithm, "delay": delay, "every": 3}
    whole = epos(file, **options)
    whole.advance("0.5 s")
    run = epos(file, **options)
    run.advance("0.151 s")
    early = run.save()
    early = early.stored() if stored else early
    run.advance("0.302 s")
    late = run.save()
    states = [late.engine.signals, early.stored().signals if not stored else early.signals]
    assert not np.array_equal(*states)  # else restoring nothing would pass
    run.restore(early)
    assert run.time == early.time == 0.151
    assert len(run.recording().time_ns) == 151 // 3 + 2  # and the last time
    run.advance("0.2 s")
    run.restore(late)  # behind: what was recorded between is there again
    assert run.time == 0.302
    run.advance("0.5 s")
    equal(run, whole)
    run.restore(early)
    run.advance("0.5 s")
    equal(run, whole)


@pytest.mark.parametrize("delay", ["mean", "plain"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_step_saved_and_tried_twice(algorithm, delay):
    """As a controller that looks ahead: three steps on trial, back, one for good."""
    options = {"step": "1 ms", "algorithm": algorithm, "delay": delay}
    whole, run = start(sample_system(), **options), start(sample_system(), **options)
    whole.advance("60 ms")
    for _ in range(60):
        here = run.save()
        run.step(3)
        run.restore(here)
        run.step()
    equal(run, whole)


def test_what_was_set_from_outside_is_restored(probe):
    system = System("s").add("p", fmu(probe), u=1.0, n=0, flag=False).add("g", block("gain"), u=2.0)
    run = start(system, step="1 s")
    run.set("p.u", 3.0)
    run.set("g.u", 5.0)
    here = run.save()
    run.step()
    run.set("p.u", -1.0)
    run.set("g.u", -1.0)
    run.step()
    run.restore(here)
    run.step()
    assert [run.get(name) for name in ("p.u", "p.y", "g.u", "g.y")] == [3.0, 3.0, 5.0, 5.0]


def test_a_saved_fmu_is_told_that_it_may_go_back(probe):
    run = start(System("s").add("p", fmu(probe), u=1.0, n=0, flag=False), step="1 s")
    run.step()
    assert run.get("p.no_way_back") == 1.0
    here = run.save()
    run.step()
    assert run.get("p.no_way_back") == 0.0
    del here
    run.step()
    assert run.get("p.no_way_back") == 1.0


@pytest.mark.parametrize("how", [1, 2, 3, 5])
def test_a_failed_run_goes_on_from_before(how, wording):
    system = System("f").add("i", block("integrator"), u=1.0)
    system = system.add("rig", block("faulty"), how=how, at=0.005).connect("i.y", "rig.u")
    run = start(system, step="1 ms")
    run.advance("3 ms")
    here = run.save()
    for _ in range(2):
        with pytest.raises((StepError, KeyboardInterrupt)):
            run.advance("9 ms")
        assert run.recording().time_ns.tolist() == [10**6 * i for i in range(6)]
        with wording.raises(StepError):
            run.save()
        run.restore(here)
        assert run.time == 0.003
        assert len(run.recording().time_ns) == 4


def test_after_an_error_of_an_fmu(probe, caplog, wording):
    """FMI 2.0 lets an instance go on from an earlier state; then it is terminated as usual."""
    system = System("s").add("p", fmu(probe), u=1.0, n=0, flag=False, error_at=2.0)
    with caplog.at_level(logging.INFO, "orchestrator.fmu"), start(system, step="1 s") as run:
        here = run.save()
        with wording.raises(StepError):
            run.advance("5 s")
        run.restore(here)
        run.advance("2 s")
        assert run.get("p.y") == 2.0
    assert caplog.messages[-1] == "end: terminated"


def test_after_a_fatal_failure_nothing_goes_on(probe, wording):
    """The probe aborts the process if it is called again."""
    system = System("s").add("p", fmu(probe), u=1.0, n=0, flag=False, fatal_at=2.0)
    run = start(system, step="1 s", record=["p.y"])
    here = run.save()
    with wording.raises(StepError):
        run.advance("5 s")
    for call in (lambda: run.restore(here), run.save, lambda: run.get("p.g")):
        with wording.raises(StepError):
            call()


def test_a_checkpoint_of_another_execution(plants, wording):
    one, two = epos("capture.ssd"), epos("capture.ssd")
    one.advance("0.1 s")
    two.advance("0.2 s")
    here = one.save()
    with wording.raises(SoftdockError):
        two.restore(here)
    two.restore(here.stored())
    for run in (one, two):
        run.advance("0.4 s")
    equal(one, two)


@pytest.mark.parametrize(
    "options",
    [
        {"step": "2 ms"},
        {"algorithm": "jacobi"},
        {"delay": "plain"},
        {"start": 1.0},
        {"every": 2},
    ],
)
def test_a_checkpoint_of_other_options(options, wording):
    here = start(sample_system(), step="1 ms").save().stored()
    run = start(sample_system(), **{"step": "1 ms", **options})
    with wording.raises(LoadError):
        run.restore(here)
    run.step()  # nothing was changed


def test_a_checkpoint_of_another_system():
    here = start(sample_system(), step="1 ms").save().stored()
    other = sample_system().set("b.k", -1.5).add("more", block("gain"), u=0.0)
    with pytest.raises(LoadError) as caught:
        start(other, step="1 ms").restore(here)
    text = str(caught.value)
    assert "component 'b': the checkpoint has 'Python block; sample_blocks.Gain; k = -2.0'" in text
    assert "component 'more': the checkpoint has 'none'" in text


def test_saving_shares_the_recording():
    """A thousand checkpoints of a long recording hold it once."""
    run = start(sample_system(), step="1 ms")
    run.advance("5 s")
    saved = [run.save()]
    for _ in range(1000):
        run.step()
        saved.append(run.save())
    for one, two in pairwise(saved):
        assert two.rows.before is one.rows
        assert len(two.rows.block) == 1
    run.restore(saved[500])
    assert len(run.recording().time_ns) == 5501


@pytest.mark.parametrize("name", ["BouncingBall", "CompliantBall", "TwoLinkArm", "WireRope"])
def test_plants_with_events_and_solvers_of_their_own(plants, name):
    """Step-size control, events to come and solutions of implicit blocks belong to the state."""
    whole, run = (start(alone(plants / f"{name}.fmu"), step="10 ms") for _ in range(2))
    whole.advance("2 s")
    run.advance("0.5 s")
    here = run.save()
    run.advance("1.2 s")
    run.restore(here)
    run.advance("2 s")
    equal(run, whole)
    values = whole.recording().values
    assert np.ptp(values[50:], axis=0).max() > 0.0
    run.restore(here.stored())
    run.advance("2 s")
    equal(run, whole)


def alone(path):
    component = fmu(path)
    held = {c.name: c.start or 0.0 for c in component.of(Causality.INPUT)}
    return System("alone").add("plant", component, **held)


VAN_DER_POL = """model VanDerPol
  output Real x(start=2, fixed=true);
  output Real v(start=0, fixed=true);
equation
  der(x) = v;
  der(v) = 20*(1 - x^2)*v - x;
end VanDerPol;
"""


def test_cvode_goes_on_as_it_did_after_saving(tmp_path):
    """Saving ends the history of its multistep method, for the saved and for the going run."""
    try:
        compiler.sundials_libraries()
    except FmuError as error:
        pytest.skip(str(error))
    (tmp_path / "VanDerPol.mo").write_text(VAN_DER_POL)
    solver = Solver(method="cvode", max_step=0.1, tolerance=1e-6)
    result = build_model(None, tmp_path / "VanDerPol.mo", tmp_path, solver=solver)
    never, saved = (start(alone(result.path), step="10 ms") for _ in range(2))
    for run in (never, saved):
        run.advance("5 s")
    here = saved.save()
    for run in (never, saved):
        run.advance("20 s")
    first = saved.recording().values
    saved.restore(here)
    saved.advance("20 s")
    assert saved.recording().values.tobytes() == first.tobytes()
    assert not np.array_equal(first, never.recording().values)  # else it need not be documented
    np.testing.assert_allclose(first, never.recording().values, rtol=0.0, atol=1e-2)


def in_another_run(system, **options):
    """A run that goes on, and another one that goes on from its stored checkpoint."""
    on, other = (start(system, step="1 ms", record="*", **options) for _ in range(2))
    on.step(7)
    other.restore(on.save().stored())
    on.step(9)
    other.step(9)
    return on, other


@pytest.mark.parametrize(
    "line", [{"extrapolation": "linear"}, {"extrapolation": "smoothed"}, {"compensation": "nepce"}]
)
def test_another_run_extrapolates_from_the_step_before(line):
    """The first step after a checkpoint needs the length of the last one before it."""
    system = System("s").add("a", block("integrator"), u=0.3).add("b", block("integrator"))
    equal(*in_another_run(system.connect("a.y", "b.u", **line), algorithm="jacobi"))


def test_another_run_holds_what_stuck_before():
    fault = Fault.of("stuck", "a.y -> b.u", "3 ms", "12 ms")
    system = System("s").add("a", block("integrator"), u=0.3).add("b", block("integrator"))
    on, other = in_another_run(system.connect("a.y", "b.u"), algorithm="jacobi", faults=[fault])
    equal(on, other)
    assert on.get("b.u") != pytest.approx(0.3 * 3e-3)  # the fault is over, and was not before


def test_another_run_draws_the_delays_that_depend_on_those_before():
    """A correlated jitter remembers its last draw."""
    jitter = Jitter("normal", spread_ns=2_000_000, correlation_ns=50_000_000)
    delay = TransportDelay(8_000_000, variation=Variation(jitter=jitter))
    system = System("s").add("a", block("integrator"), u=0.3).add("b", block("integrator"))
    on, other = in_another_run(system.connect("a.y", "b.u", delay=delay))
    assert on.line_statistics() == other.line_statistics()
    equal(on, other)


def test_another_run_lets_nothing_overtake_what_was_sent_before():
    """The last sample before the checkpoint arrives late, and those after it come no earlier."""
    jitter = Jitter("uniform", spread_ns=15_000_000)
    system = System("s").add("a", block("integrator"), u=0.3).add("b", block("integrator"))
    for seed in range(8):
        variation = Variation(jitter=jitter, seed=seed, delivery="in-order")
        delay = TransportDelay(20_000_000, variation=variation)
        line = system.connect("a.y", "b.u", delay=delay, interpolation="hold")
        on, other = in_another_run(line)
        for run in (on, other):
            run.step(40)
        equal(on, other)


def test_going_back_forgets_the_fault_that_a_failed_step_passed():
    """A step that begins at a fault extrapolates nothing, and neither does the next one."""
    fault = Fault.of("bias", "a.y -> b.u", "3 ms", "3.5 ms", value=0.1)
    system = System("s").add("a", block("strict_lag"), x0=1.0).add("b", block("strict_lag"))
    system = system.connect("a.y", "b.u").connect("b.y", "a.u")
    system = system.add("rig", block("faulty"), how=1, at=0.003).connect("b.y", "rig.u")
    steps = {"step": "0.1 ms", "algorithm_options": {"longest": "0.1 ms"}}
    rows = []
    for fails in (False, True):
        run = start(system, algorithm="embedded", faults=[fault], **steps)
        run.advance("1 ms")
        here = run.save()
        if fails:
            with pytest.raises(StepError):
                run.advance("9 ms")
            run.restore(here)
        run.advance("2.9 ms")
        rows.append(run.recording().values)
    assert rows[0].tobytes() == rows[1].tobytes()


def test_a_checkpoint_that_is_dropped_is_freed_by_its_fmu(small_fmu):
    counting = fmu(small_fmu("quiet", "-DCOUNTS_STATES"))
    with start(System("s").add("a", counting, u=1.0), step="1 ms") as run:
        kept = [run.save() for _ in range(3)]
        run.step()
        assert run.get("a.how") == 3
        kept.clear()
        run.step()
        assert run.get("a.how") == 0
