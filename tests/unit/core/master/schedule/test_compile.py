from importlib.metadata import EntryPoint, distribution
from itertools import permutations

import pytest

from orchestrator.core.diagnostics import CapabilityError, PluginError, UnknownNameError
from orchestrator.core.master import (
    DelayMode,
    Execution,
    algorithm_names,
    algorithms,
    compile_schedule,
)
from orchestrator.core.master.algorithms import gauss_seidel, jacobi
from orchestrator.core.master.plan import Group, Plan
from orchestrator.core.master.schedule.rows import OperationCode
from orchestrator.core.plugins import FunctionGroup
from orchestrator.core.simunits import block
from orchestrator.core.system import System

pytestmark = pytest.mark.usefixtures("sample_blocks")
KINDS = {"body": "integrator", "spring": "gain", "damper": "gain", "sum": "sum"}


def contact(order=tuple(KINDS), delay=None):
    system = System("contact")
    for name in order:
        system = system.add(name, block(KINDS[name]))
    return (
        system.connect("body.y", "spring.u", delay=delay)
        .connect("body.y", "damper.u", delay=delay)
        .connect("spring.y", "sum.u1")
        .connect("damper.y", "sum.u2")
        .connect("sum.y", "body.u")
    )


def order_of(system):
    return [name for group in gauss_seidel(system).groups for name in group.members]


@pytest.mark.parametrize("order", list(permutations(KINDS)))
def test_gauss_seidel_takes_delays_as_cuts(order):
    found = order_of(contact(order, delay="1 ms"))
    assert sorted(found[:2]) == ["damper", "spring"]
    assert found[2:] == ["sum", "body"]


@pytest.mark.parametrize("order", list(permutations(KINDS)))
def test_gauss_seidel_steps_what_acts_at_once_after_its_sources(order):
    """In a ring without a delay the cut is before the component that answers through a state."""
    found = order_of(contact(order))
    assert found[0] == "body"
    assert found[3] == "sum"


def test_gauss_seidel_keeps_the_order_where_nothing_binds_it():
    system = System("free")
    for name in ("c", "a", "b"):
        system = system.add(name, block("integrator"))
    assert order_of(system) == ["c", "a", "b"]
    ring = system.connect("c.y", "b.u").connect("b.y", "a.u").connect("a.y", "c.u")
    assert order_of(ring) == ["c", "a", "b"]  # a ring of states: none acts at once


def test_jacobi_is_one_group():
    assert [group.members for group in jacobi(contact()).groups] == [tuple(KINDS)]


def test_operations_of_gauss_seidel():
    schedule = compile_schedule(contact(delay="1 ms"), "gauss-seidel", 10**6, DelayMode.PLAIN, ())
    codes = [OperationCode(code).name for code, *_ in schedule.operations]
    # spring and damper have nothing to tell each other: one exchange, one step of two units
    assert codes == ["READ", "STEP", "COPY", "STEP", "COPY", "STEP", "PUSH"]
    assert schedule.operations[1] == (OperationCode.STEP, 0, 2, 1, 0)
    assert len(schedule.histories) == 2
    assert schedule.operations[-1] == (OperationCode.PUSH, 0, 2, 1, 0)


def test_only_what_is_used_has_a_place():
    system = System("s").add("a", block("source")).add("b", block("gain")).connect("a.y", "b.u")
    schedule = compile_schedule(system, "jacobi", 1, DelayMode.MEAN, ())
    assert set(schedule.slots) == {"a.y", "b.u"}
    schedule = compile_schedule(system, "jacobi", 1, DelayMode.MEAN, ["a.time"])
    assert set(schedule.slots) == {"a.y", "a.time", "b.u"}


def test_refusals(monkeypatch, wording):
    system = contact(delay="1 ms")

    def build(system=system, name="jacobi", step=10**6):
        return compile_schedule(system, name, step, DelayMode.MEAN, ())

    with wording.raises(CapabilityError):
        build(step=-1)
    with wording.raises(CapabilityError):
        build(System("empty"))
    with wording.raises(UnknownNameError):
        build(name="euler")
    with wording.raises(CapabilityError):
        build(contact(delay="3600 s"), step=1)
    monkeypatch.setattr(
        "orchestrator.core.master.algorithms.algorithm",
        lambda name: lambda system: Plan((Group(("body", "sum")),)),
    )
    with wording.raises(PluginError):
        build(name="lazy")


def test_a_broken_algorithm_plug_in(monkeypatch, wording):
    group = FunctionGroup("softdock.algorithms", "algorithm")
    entry = EntryPoint("broken", "no_such_package.plans:plan", "softdock.algorithms")
    monkeypatch.setitem(vars(group), "entry_points", {"broken": entry})
    monkeypatch.setattr(algorithms, "_GROUP", group)
    with wording.raises(PluginError) as e:
        algorithms.algorithm("broken")
    assert isinstance(e.value.__cause__, ImportError)


def test_registered_algorithms():
    assert {"gauss-seidel", "jacobi"} <= set(algorithm_names())


def test_own_algorithms_are_the_registered_ones():
    own = {
        entry.name: entry.value
        for entry in distribution("softdock").entry_points
        if entry.group == "softdock.algorithms"
    }
    assert own == {n: f"{f.__module__}:{f.__name__}" for n, f in algorithms.BUILT_IN.items()}


def test_predictions_where_an_algorithm_has_its_own_way(wording):
    system = (
        System("predicted")
        .add("a", block("integrator"))
        .add("b", block("integrator"))
        .connect("a.y", "b.u", extrapolation="linear")
        .connect("b.y", "a.u")
    )

    def build(name, rates=None):
        return compile_schedule(system, name, 10**6, DelayMode.MEAN, (), rates=rates)

    assert len(build("jacobi").histories) == 1
    with wording.raises(CapabilityError, code="CAP105", key="a.y -> b.u"):
        build("ecco")
    with wording.raises(CapabilityError, code="CAP105", key="a.y -> b.u"):
        build("jacobi", {"a": 2})


def test_the_longest_delay_of_a_ring_is_the_cut():
    """The others are stepped source before target, so that they read ahead as little as can be."""
    system = System("ring")
    for name in ("c", "b", "a"):
        system = system.add(name, block("integrator"))
    for line, delay in {"a.b": "0.2 ms", "b.c": "16 ms", "c.a": "0.4 ms"}.items():
        source, target = line.split(".")
        system = system.connect(f"{source}.y", f"{target}.u", delay=delay)
    assert order_of(system) == ["c", "a", "b"]
    schedule = compile_schedule(system, "gauss-seidel", 10**6, DelayMode.MEAN, ())
    assert [plan.extrapolation_ns for plan in schedule.plans] == [0, 0, 0]
    (loop,) = schedule.loop_delays
    assert loop.numerical_ns == pytest.approx(0.0, abs=2.0)  # a nanosecond of rounding per line


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel"])
def test_every_history_is_kept_whatever_the_rates_of_its_neighbours(algorithm):
    """Sources with the same rate need not stand side by side: each has its own samples kept."""
    system, rates = System("ring"), {"c0": 1, "c1": 3, "c2": 2, "c3": 3}
    for name in rates:
        system = system.add(name, block("integrator"))
    for i in range(4):
        system = system.connect(f"c{i}.y", f"c{(i + 1) % 4}.u", delay="20 ms")
    with Execution(system, step="4 ms", algorithm=algorithm, rates=rates, delay="plain") as run:
        schedule = run.schedule
    slots = [row[0] for row in schedule.histories]
    pushed = [
        (slots[history], every)
        for code, first, count, every, _ in schedule.operations
        if code is OperationCode.PUSH
        for history in range(first, first + count)
    ]
    kept = [(schedule.slots[f"{name}.y"][0], ticks) for name, ticks in rates.items()]
    assert sorted(pushed) == sorted(kept)
