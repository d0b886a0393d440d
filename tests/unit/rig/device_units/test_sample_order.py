"""Samples behind a bad wire: counted, never taken for a restart by when they arrive."""

import pytest

from orchestrator.core.structs import replace
from orchestrator.rig.device_units.sequence import SampleCounter
from orchestrator.rig.devices import Received

MS = 1_000_000
PERIOD = 4 * MS


def sample(number, *, dated=True, value=None, clock_s=0.0, period=None):
    """One of a device at 250 Hz whose value is its number."""
    shown = number if period is None else number % period
    value = float(number) if value is None else value
    return Received((value,), number * 4e-3 + clock_s if dated else None, shown)


class Wire:
    """A counter at 250 Hz, and what it used of what arrived."""

    def __init__(self, period=None):
        self.counter = SampleCounter(1, 250.0, period, 0.1)
        self.used, self.followed = [], []

    def arrive(self, *arrivals):
        """Take samples in the order of their arrival, (ns, sample) each."""
        for now, each in sorted(arrivals, key=lambda arrival: arrival[0]):
            if self.counter.take(each, now):
                self.used.append(each.values[0])
            if self.counter.follows:
                self.followed.append(each.values[0])
        return self

    @property
    def facts(self):
        f = self.counter.facts
        return {"lost": f.lost, "late": f.late, "repeated": f.repeated, "restarts": f.restarts,
                "malformed": f.malformed}  # fmt: skip


def stream(numbers, delay_ms=0.0, **given):
    at = delay_ms if callable(delay_ms) else (lambda _: delay_ms)
    return [(round((n * 4 + 1 + at(n)) * MS), sample(n, **given)) for n in numbers]


@pytest.mark.parametrize("dated", [True, False])
@pytest.mark.parametrize("later_ms", [0.3, 20.0, 1000.0])
def test_everything_twice_is_counted(dated, later_ms):
    live = stream(range(600), dated=dated)
    again = [(now + round(later_ms * MS), each) for now, each in live[:300]]
    wire = Wire().arrive(*live, *again)
    assert wire.used == [float(n) for n in range(600)]
    found = wire.facts
    assert (found["repeated"], found["restarts"], found["lost"]) == (300, 0, 0)


@pytest.mark.parametrize("dated", [True, False])
@pytest.mark.parametrize("old", [3, 6])
@pytest.mark.parametrize("spacing_ms", [0.3, 4.0])
def test_old_samples_in_a_row_are_counted_though_nothing_new_comes(dated, old, spacing_ms):
    """The stream is held meanwhile, so that only the old ones arrive, at the device's rate too."""
    live = stream(range(200), dated=dated)
    begin = live[-1][0] + MS
    again = [(begin + round(k * spacing_ms * MS), sample(50 + k, dated=dated)) for k in range(old)]
    rest = stream(range(200, 260), 30.0, dated=dated)
    wire = Wire().arrive(*live, *again, *rest)
    assert wire.facts["restarts"] == 0
    assert wire.facts["repeated"] == old
    assert wire.used == [float(n) for n in range(260)]


def test_a_delay_that_falls_with_a_loss_costs_samples_and_no_run():
    early = stream(range(100), 28.0)
    later = stream([n for n in range(101, 200) if n not in range(101, 108)])
    wire = Wire().arrive(*early, *later)
    assert wire.facts["restarts"] == 0
    assert wire.used[-1] == 199.0
    assert len(wire.used) >= 100 + 92 - 2


@pytest.mark.parametrize(
    "forged",
    [
        pytest.param(lambda n: sample(n + 10_000, value=-1.0), id="40 s ahead"),
        pytest.param(lambda n: sample(n + 25, value=-1.0), id="100 ms ahead"),
        pytest.param(
            lambda n: Received((-1.0,), n * 4e-3, n + 10**6), id="a count that its clock denies"
        ),
        pytest.param(lambda n: sample(n - 90_000, value=-1.0), id="of another run"),
    ],
)
@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_number_far_away_is_not_used_while_the_device_goes_on(forged, count):
    others = [(now + MS, forged(n)) for n, (now, _) in enumerate(stream(range(300)))]
    wire = Wire().arrive(*stream(range(400)), *others[200 : 200 + count])
    assert wire.facts["restarts"] == 0
    assert -1.0 not in wire.used
    assert -1.0 not in wire.followed
    assert wire.used == [float(n) for n in range(400)]
    assert wire.facts["malformed"] + wire.facts["late"] == count


@pytest.mark.parametrize(
    ("first", "why"),
    [
        (0, "started again"),
        (40, "started again"),
        (10**6, "its clock went on by"),
    ],
)
def test_a_restart_is_found_by_its_count_and_its_first_samples_are_not_answered(first, why):
    """Its values differ from those that came with these numbers before."""
    wire = Wire().arrive(*stream(range(10, 500)))
    born = wire.counter._came_ns + 40 * MS
    anew = [(born + k * PERIOD, sample(first + k, value=-1.0 - k)) for k in range(20)]
    wire.arrive(*anew[:2])
    assert -1.0 not in wire.followed
    wire.arrive(*anew[2:])
    assert wire.facts["restarts"] == 1
    assert why in wire.counter.begun_anew
    assert wire.used[-1] == -20.0


@pytest.mark.parametrize("jump_s", [-1.0, 1.0])
def test_a_clock_that_jumps_is_held_and_found(jump_s):
    wire = Wire().arrive(*stream(range(300)), *stream(range(300, 302), clock_s=jump_s))
    assert wire.used[-1] == 299.0
    wire.arrive(*stream(range(302, 320), clock_s=jump_s))
    assert wire.facts["restarts"] == 1
    assert "its clock went" in wire.counter.begun_anew


def test_the_last_packet_of_another_run_again_and_again_is_no_stream():
    wire = Wire().arrive(*((k * PERIOD + MS, sample(7)) for k in range(100)))
    assert wire.used == [7.0]
    assert wire.facts["repeated"] == 99
    wire = Wire().arrive(
        *stream(range(50)), *((200 * MS + k * PERIOD, sample(9000)) for k in range(100))
    )
    assert wire.used[-1] == 49.0
    assert wire.facts["restarts"] == 0


class Beginning(Wire):
    """A counter that uses samples from the first on that is confirmed, as a device's process."""

    def arrive(self, *arrivals):
        """Take samples in the order of their arrival."""
        for now, each in sorted(arrivals, key=lambda arrival: arrival[0]):
            if self.used or self.counter.confirms(each, now):
                super().arrive((now, each))
        return self


@pytest.mark.parametrize("dated", [True, False])
@pytest.mark.parametrize("number", [3, 480, 520, 9000])
@pytest.mark.parametrize("count", [1, 3, 9])
def test_no_first_sample_of_another_run_is_used(dated, number, count):
    """They come once, one after the other at once, before the device or between its samples."""
    live = stream(range(500, 700), dated=dated)
    for spread in (0, PERIOD):
        old = [
            (live[0][0] - 2 * MS + k * (spread or MS // 10), sample(number + k, dated=dated))
            for k in range(1 if spread else count)
        ]
        again = [(now + k * PERIOD, each) for now, each in old[:1] for k in range(1, 20)]
        for wire in (Beginning().arrive(*old, *live), Beginning().arrive(*old, *again, *live)):
            assert wire.used[0] in {502.0, 503.0}
            assert wire.used[-150:] == [float(n) for n in range(550, 700)]
            assert wire.facts["restarts"] == 0


@pytest.mark.parametrize("dated", [True, False])
def test_the_last_packet_of_another_run_alone_begins_no_run(dated):
    wire = Beginning().arrive(*((k * PERIOD + MS, sample(7, dated=dated)) for k in range(100)))
    assert wire.used == []
    assert "100 samples came, 99 of them repeated" in wire.counter.unconfirmed


@pytest.mark.parametrize("dated", [True, False])
@pytest.mark.parametrize("arrivals", ["twice", "lossy", "in threes", "amid a replay", "wrapped"])
def test_a_bad_wire_delays_the_first_sample_little(arrivals, dated):
    live = stream(range(500, 700), dated=dated)
    if arrivals == "wrapped":
        live = stream(range(254, 454), dated=dated, period=256)
    elif arrivals == "twice":
        live += [(now + 100, each) for now, each in live]
    elif arrivals == "lossy":
        live = [each for n, each in enumerate(live) if n % 10 not in {2, 5, 6}]
    elif arrivals == "in threes":
        live = [(live[n + 2 - n % 3][0], each) for n, (_, each) in enumerate(live[:198])]
    elif arrivals == "amid a replay":
        live += stream(range(250, 450), 1000.0, dated=dated)
        live += [(live[0][0] - MS, sample(249, dated=dated))]
    wire = Beginning(256 if arrivals == "wrapped" else None).arrive(*live)
    first = 254.0 if arrivals == "wrapped" else 500.0
    assert first <= wire.used[0] <= first + 6.0
    assert wire.facts["restarts"] == 0


def test_samples_without_number_and_time_are_used_from_the_first_on():
    counter = SampleCounter(1, 250.0, None)
    assert counter.confirms(Received((1.0,)), MS)


def test_a_delay_that_grows_is_age():
    wire = Wire()
    for now, each in stream(range(1000), lambda n: min(300.0, max(0.0, 0.8 * (n - 250)))):
        wire.counter.take(each, now)
    facts = wire.counter.facts
    assert (now - facts.received_ns) * 1e-9 == pytest.approx(0.3, abs=0.003)
    assert not wire.counter.follows


def test_what_lay_in_a_queue_is_old_until_it_is_through():
    held = lambda n: max(0.0, 300.0 - 4.0 * (n - 300)) if n >= 300 else 0.0  # noqa: E731
    wire = Wire().arrive(*stream(range(300)))
    delays = []
    for now, each in stream(range(300, 400), held):
        assert wire.counter.take(each, now)
        delays.append(wire.counter.delay_s)
    assert delays[0] == pytest.approx(0.3, abs=1e-3)
    assert delays[-1] == pytest.approx(0.0, abs=1e-3)
    assert wire.facts["restarts"] == wire.facts["lost"] == 0
    assert 301.0 not in wire.followed
    assert 380.0 in wire.followed or wire.counter.follows


@pytest.mark.parametrize("dated", [True, False])
def test_a_run_that_begins_amid_a_replay_goes_over_to_the_device(dated):
    """Each datagram comes again 1 s later, and the first that arrives is an old one."""
    live, old = stream(range(500, 1000), dated=dated), stream(range(250, 750), 1000.0, dated=dated)
    wire = Wire().arrive((live[0][0] - MS, old[0][1]), *live, *old[1:])
    assert wire.facts["restarts"] == 0
    late = [n for n in wire.used if n < 500]
    assert len(late) <= 10
    assert wire.used[-400:] == [float(n) for n in range(600, 1000)]


def test_old_samples_from_before_the_run_are_no_restart_while_the_device_goes_on():
    """They never came before, three in a row arrive between two of the device, and it goes on."""
    live = stream(range(500, 700))
    old = [(now + k * MS, sample(n + k)) for n, (now, _) in enumerate(live) for k in (1, 2, 3)]
    wire = Wire().arrive(*live, *old)
    assert wire.facts["restarts"] == 0
    assert wire.used == [float(n) for n in range(500, 700)]


@pytest.mark.parametrize("old", [3, 6, 12])
@pytest.mark.parametrize("spacing_ms", [0.3, 4.0])
@pytest.mark.parametrize("behind", [100, 150, 300, 500])
def test_old_dated_samples_of_a_short_count_are_repeated(old, spacing_ms, behind):
    """A count of one byte makes half of all old numbers look newer; their times say otherwise."""
    live = stream(range(600), period=256)
    begin = live[-1][0] + MS
    again = [
        (begin + round(k * spacing_ms * MS), sample(600 - behind + k, period=256))
        for k in range(old)
    ]
    wire = Wire(period=256).arrive(*live, *again, *stream(range(600, 660), 30.0, period=256))
    assert (wire.facts["restarts"], wire.facts["repeated"]) == (0, old)
    assert wire.used == [float(n) for n in range(660)]


@pytest.mark.parametrize("late_ms", [0.0, 30.0])
def test_a_sample_that_answers_a_request_is_as_old_as_the_request_at_most(late_ms):
    """A constant delay from the first sample on shows in no clock, but in what was asked when."""
    wire = Wire()
    for now, each in stream(range(100), late_ms):
        wire.arrive((now, replace(each, age=1e-3 * (1.0 + late_ms))))
    assert wire.counter.delay_s == pytest.approx(1e-3 * (1.0 + late_ms))
    assert wire.counter.facts.received_ns == 99 * 4 * MS
    assert wire.counter.answers_late
    assert len(wire.followed) == 100  # it answers a question, and waits for no answer


def test_a_sample_that_answers_a_request_needs_no_other_to_confirm_it():
    """At 50 ms on the way a device that is asked each 10 ms never had three numbers in a row."""
    counter = SampleCounter(1, 100.0, None, 0.1)
    assert not counter.confirms(sample(5), 0)
    assert counter.confirms(replace(sample(5), age=0.05), 0)


@pytest.mark.parametrize("back", [40, 100, 250])
def test_a_device_with_a_clock_and_no_count_restarted_if_its_clock_goes_back(back):
    """Its times were taken for those of lost samples that came late, and it was commanded on."""
    live = [(now, Received(each.values, each.device_time)) for now, each in stream(range(300))]
    begin = live[-1][0] + 50 * MS
    anew = [
        (begin + k * 4 * MS, Received((0.5,), (300 - back + k) * 4e-3 + 1e-3)) for k in range(20)
    ]
    assert Wire().arrive(*live, *anew).facts["restarts"] == 1
