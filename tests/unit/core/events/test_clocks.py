"""Clocks and discrete values between units with event mode; see tests/fixtures/c_fmus."""

from itertools import permutations

import numpy as np
import pytest

from orchestrator.core.diagnostics import CapabilityError, ConnectorMismatchError, FmuError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import fmu
from orchestrator.core.system import System

MS = 10**6


def chain(c_fmu, order=("source", "relay", "counter"), period=0.1):
    parts = {
        "source": (c_fmu("source3"), {"period": period}),
        "relay": (c_fmu("relay3"), {}),
        "counter": (c_fmu("counter3"), {}),
    }
    system = System("chain")
    for name in order:
        path, values = parts[name]
        system = system.add(name, fmu(path), **values)
    return (
        system.connect("source.tick", "relay.in")
        .connect("source.count", "relay.value")
        .connect("relay.out", "counter.tick")
        .connect("relay.next", "counter.value")
    )


def columns(run):
    r = run.recording()
    return r.time_ns, {name: r.values[:, i] for i, name in enumerate(r.names)}


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel", "newton"])
@pytest.mark.parametrize("order", [*permutations(("source", "relay", "counter"))], ids="-".join)
def test_a_tick_goes_through_a_chain_at_one_instant_in_any_order(c_fmu, order, algorithm):
    with Execution(chain(c_fmu, order), step="50 ms", algorithm=algorithm) as run:
        run.advance("0.4 s")
        times, found = columns(run)
        statistics = run.event_statistics()
    ticks = (times % (100 * MS) == 0).astype(float)  # every second row, the start included
    numbers = np.cumsum(ticks)
    assert times.tolist() == [i * 50 * MS for i in range(9)]
    for clock in ("source.tick", "relay.out"):
        np.testing.assert_array_equal(found[clock], ticks)
    np.testing.assert_array_equal(found["source.count"], numbers)
    np.testing.assert_array_equal(found["counter.count"], numbers)
    np.testing.assert_array_equal(found["counter.last"], numbers + 1)  # the relay adds one
    last_tick = np.floor(times / 100e6) / 10
    np.testing.assert_allclose(found["counter.at"], last_tick, rtol=0, atol=1e-15)
    assert (statistics.instants, statistics.split_steps, statistics.late) == (5, 0, 0)


def timed(c_fmu, attributes, **values):
    """A counter whose clock is time-based."""

    def change(text):
        return text.replace('intervalVariability="triggered"', attributes)

    return System("timed").add("counter", fmu(c_fmu("counter3", change)), value=0, **values)


def test_a_clocked_value_passes_with_a_tick_of_its_target_only(c_fmu):
    """The source ticks every 100 ms, and the counter that takes its number every 250 ms."""

    def change(text):
        clock = 'intervalVariability="constant" intervalCounter="1" resolution="4"'
        return text.replace('intervalVariability="triggered"', clock)

    system = chain(c_fmu).add("slow", fmu(c_fmu("counter3", change)))
    with Execution(system.connect("source.count", "slow.value"), step="50 ms") as run:
        for told, taken in ((1, 1), (2, 1), (2, 1), (3, 1), (3, 3), (4, 3), (4, 3), (5, 3)):
            run.step()
            assert (run.get("source.count"), run.get("slow.value")) == (told, taken)
        assert (run.get("slow.last"), run.get("slow.count")) == (3, 2)


def test_ticks_off_the_grid_split_the_steps(c_fmu):
    with Execution(chain(c_fmu, period=0.03), step="50 ms") as run:
        run.advance("0.1 s")
        times, found = columns(run)
        statistics = run.event_statistics()
    assert times.tolist() == [0, 50 * MS, 100 * MS]  # the grid stays
    assert found["counter.count"].tolist() == [1, 2, 4]
    assert found["counter.at"].tolist() == pytest.approx([0.0, 0.03, 0.09], abs=1e-15)
    assert found["source.tick"].tolist() == [1, 0, 0]  # ticks at 30, 60 and 90 ms have no row
    assert (statistics.split_steps, statistics.late) == (3, 0)


def test_ticks_that_cannot_split_a_step_are_late_and_say_so(c_fmu):
    def equal_steps(text):
        return text.replace(' canHandleVariableCommunicationStepSize="true"', "")

    system = chain(c_fmu, period=0.03).add("other", fmu(c_fmu("jumper3", equal_steps)), u=0.0)
    with Execution(system, step="50 ms") as run:
        run.advance("0.1 s")
        _, found = columns(run)
        statistics = run.event_statistics()
        assert any("3 foreseen events" in note and "up to 40 ms late" in note for note in run.notes)
    assert found["counter.count"].tolist() == [1, 2, 4]  # 60 and 90 ms both at 100 ms
    assert found["counter.at"].tolist() == [0.0, 0.05, 0.1]
    assert found["source.tick"].tolist() == [1, 1, 1]
    assert statistics.split_steps == 0
    assert statistics.late == 3
    assert statistics.latest_ns == 40 * MS  # 60 ms, at 100 ms


def test_a_million_ticks_do_not_drift(c_fmu):
    # 1/3 ms is no whole number of nanoseconds. A sum of 333333 ns would have ticked once more.
    clock = 'intervalVariability="constant" intervalCounter="1" resolution="3000"'
    with Execution(timed(c_fmu, clock), step="1 s", record=[]) as run:
        run.advance("334 s")
        assert run.get("counter.count") == 334 * 3000 + 1
        assert run.get("counter.at") == 334.0


def test_instants_are_rounded_to_whole_nanoseconds(c_fmu):
    """Two thirds of a second are 666,666,666.67 ns."""
    clock = 'intervalVariability="constant" intervalCounter="2" resolution="3"'
    with Execution(timed(c_fmu, clock), step="1 s") as run:
        run.advance("1 s")
        assert (run.get("counter.count"), run.get("counter.at")) == (2, 0.666666667)


@pytest.mark.parametrize(
    ("shift", "instant"),
    [("0.1234567891", 0.12345679), ("0.123456789", 0.123456789), ("0.1234567899", 0.12345679)],
)
def test_an_instant_between_two_nanoseconds_comes_no_earlier(c_fmu, shift, instant):
    """An FMU that enters event mode before its event finds nothing to do there."""
    clock = f'intervalVariability="fixed" intervalDecimal="1" shiftDecimal="{shift}"'
    with Execution(timed(c_fmu, clock), step="1 s") as run:
        run.advance("1 s")
        assert (run.get("counter.count"), run.get("counter.at")) == (1, instant)


@pytest.mark.parametrize(
    ("attributes", "ticks_us"),
    [
        ('intervalVariability="constant" intervalDecimal="2.5e-4"', [0, 250, 500, 750]),
        ('intervalVariability="fixed" intervalDecimal="2.5e-4" shiftDecimal="1e-4"',
         [100, 350, 600, 850]),
        ('intervalVariability="fixed" intervalCounter="3" resolution="10000" shiftCounter="2"',
         [200, 500, 800]),
        # The unit tells them: its n-th interval is n + 1 times 100 us; a fixed one is asked once.
        ('intervalVariability="fixed" supportsFraction="true"', [0, 200, 400, 600, 800]),
        ('intervalVariability="tunable"', [0, 200, 500, 900]),
        ('intervalVariability="changing" supportsFraction="true"', [0, 200, 500, 900]),
        ('intervalVariability="countdown"', [100, 300, 600]),
    ],
)  # fmt: skip
def test_time_based_clocks(c_fmu, attributes, ticks_us):
    with Execution(timed(c_fmu, attributes, period=100.0), step="50 us") as run:
        run.advance("950 us")
        times, found = columns(run)
    expected = [sum(tick <= t for tick in ticks_us) for t in times // 1000]
    assert found["counter.count"].tolist() == expected
    assert found["counter.at"][-1] == pytest.approx(ticks_us[-1] / 1e6, abs=1e-15)


@pytest.mark.parametrize(
    "attributes",
    [
        'intervalVariability="fixed" intervalDecimal="0"',
        'intervalVariability="fixed" intervalDecimal="INF"',
        'intervalVariability="fixed" intervalDecimal="1" shiftDecimal="-1"',
        'intervalVariability="fixed" intervalCounter="0"',
        'intervalVariability="fixed" intervalCounter="1"',
    ],
)
def test_times_that_are_none_are_refused(c_fmu, attributes, wording):
    with wording.raises(FmuError):
        timed(c_fmu, attributes)


def test_clocks_are_connected_to_clocks_only(c_fmu, wording):
    system = System("wrong").add("source", fmu(c_fmu("source3"))).add("relay", fmu(c_fmu("relay3")))
    system = system.connect("source.tick", "relay.value")
    with wording.raises(
        ConnectorMismatchError,
        code="CON104",
        place="connection source.tick -> relay.value",
        key="source.tick -> relay.value",
    ):
        Execution(system, step="50 ms")


@pytest.mark.parametrize(
    ("source", "target", "options"),
    [
        ("source.tick", "relay.in", {"delay": "1 ms"}),
        ("source.count", "relay.value", {"delay": "1 ms"}),
        ("source.tick", "relay.in", {"factor": 2.0}),
    ],
)
def test_what_clocks_and_discrete_values_cannot(c_fmu, source, target, options, wording):
    system = System("wrong").add("source", fmu(c_fmu("source3"))).add("relay", fmu(c_fmu("relay3")))
    if target == "relay.in":
        system = system.connect("source.count", "relay.value")
    with wording.raises(CapabilityError):
        Execution(system.connect(source, target, **options), step="50 ms")


def test_rates_of_units_with_event_mode_are_refused(c_fmu, wording):
    with wording.raises(CapabilityError):
        Execution(chain(c_fmu), step="50 ms", rates={"relay": 2})


def test_clocks_need_an_event_mode(c_fmu, wording):
    silent = c_fmu("relay3", lambda text: text.replace(' hasEventMode="true"', ""))
    system = System("silent").add("source", fmu(c_fmu("source3"))).add("relay", fmu(silent))
    system = system.connect("source.tick", "relay.in").connect("source.count", "relay.value")
    with wording.raises(CapabilityError):
        Execution(system, step="50 ms")
