"""What a relay does with what passes, in both directions, and what is made of it. No wire."""

import numpy as np
import pytest

from orchestrator import Reason
from orchestrator.rig.device_units.ledger import CommandLedger
from orchestrator.rig.devices import device_class, device_names, read_settings
from orchestrator.rig.devices.conformance import bench_of
from orchestrator.rig.trials.disturbances import (
    CANNOT,
    DISTURBANCES,
    disturbance,
    possible_disturbances,
)
from orchestrator.rig.trials.relay import Queue
from orchestrator.rig.trials.wire_trials import (
    WireVerdict,
    _wrongs,
    hidden_age,
    matrix_table,
    short_cause,
    write_matrix,
)

RELAYED = [name for name in device_names() if bench_of(name).relayed is not None]


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def passed(name, *, way="up", in_order=False, count=60, begin=True):
    """Put a number each 10 ms, and return what left: when, in s from the first, and what."""
    clock, left = Clock(), []
    queue = Queue(
        disturbance(name).rules(lambda c, n: c + b"!%d" % n), in_order=in_order, now=clock
    )
    if begin:
        queue.begin()
    for tick in range(4000):
        clock.now = 100.0 + 5e-4 * tick
        if tick % 20 == 0 and tick // 20 < count:
            queue.put(way, b"%02d" % (tick // 20))
        left += [(clock.now - 100.0, w, one.content, one.sender) for w, one in queue.due()]
    return left


def whats(left):
    return [content for _, _, content, _ in left]


ALL = [b"%02d" % n for n in range(60)]


@pytest.mark.parametrize("one", DISTURBANCES, ids=lambda one: one.name)
def test_nothing_is_disturbed_before_it_begins_and_the_other_way_never(one):
    assert whats(passed(one.name, begin=False)) == ALL
    if one.down is None:
        assert whats(passed(one.name, way="down")) == ALL
    if one.up is None:
        assert whats(passed(one.name)) == ALL


def test_what_is_lost_held_doubled_and_overtaken():
    lost = whats(passed("30 % lost"))
    assert 30 <= len(lost) <= 50
    assert lost == sorted(lost)
    twice = whats(passed("each again 20 ms later"))
    assert [twice.count(one) for one in ALL] == [2] * 60
    held = passed("held for 0.3 s")
    assert [when for when, *_ in held[:31]] == pytest.approx([0.3] * 31, abs=1e-3)
    assert whats(held) == ALL
    order = whats(passed("each fifth 15 ms late"))
    assert order != ALL
    assert sorted(order) == ALL
    assert whats(passed("each fifth 15 ms late", in_order=True)) == ALL
    again = passed("each again 20 ms later", in_order=True)
    first = [when for n in ALL for when in [min(w for w, _, c, _ in again if c == n)]]
    assert first == pytest.approx([0.01 * n for n in range(60)], abs=1e-3)
    old = whats(passed("five old ones in a row", count=150))
    assert old.count(b"03") == 2
    assert old.index(b"99") < 104 < len(old) - 1 - old[::-1].index(b"04")


def test_a_delay_grows_and_what_is_cut_or_split_is_the_whole_that_was_sent():
    late = [when - 0.01 * n for n, (when, *_) in enumerate(passed("later by 0.2 s in each second"))]
    assert late == pytest.approx([0.2 * 0.01 * n for n in range(60)], abs=1e-3)
    assert b"".join(whats(passed("all in four parts"))) == b"".join(ALL)
    cut = whats(passed("each fourth cut"))
    assert sum(len(content) < 2 for content in cut) >= 10


def test_strangers_send_from_elsewhere_and_what_is_far_ahead_comes_once():
    strangers = passed("a stranger sends forged ones")
    assert {sender for _, _, content, sender in strangers if b"!" in content} == {"host"}
    assert {sender for _, _, content, sender in strangers if b"!" not in content} == {"own"}
    ahead = [one for one in passed("one far ahead, from its own address") if b"!10000" in one[2]]
    assert [(content, sender) for _, _, content, sender in ahead] == [(b"00!10000", "own")]


def test_commands_are_lost_while_samples_come():
    assert whats(passed("all commands lost", way="down")) == []
    assert whats(passed("first three requests lost", way="down")) == ALL[3:]


@pytest.mark.parametrize("adapter", RELAYED)
def test_each_disturbance_is_possible_or_the_table_says_why_not(adapter):
    names = {possible_disturbance.name for possible_disturbance in possible_disturbances(adapter)}
    assert "nothing comes" in names
    relay = bench_of(adapter).relayed().relay
    assert {one.name for one in DISTURBANCES if (relay.transport, one.kind) in CANNOT}.isdisjoint(
        names
    )


@pytest.mark.parametrize("adapter", RELAYED)
def test_what_is_forged_is_a_sample_of_the_device_as_its_emulator_sends_it(adapter):
    """The adapter's settings are those of a wire with a relay, and all of them are known."""
    bench = bench_of(adapter)
    wiring = bench.relayed()
    settings = read_settings(device_class(adapter), wiring.settings, adapter)
    assert set(wiring.relay.settings) <= set(wiring.settings)
    assert bench.truth(settings)


def test_all_that_have_an_emulator_can_be_tried_behind_a_relay():
    assert set(device_names()) == set(RELAYED)
    assert set(bench_of("kuka_rsi").variants) == {"relative", "without echo"}


def test_a_slave_of_dcp_sends_its_outputs_to_the_relay():
    readdressed = bench_of("dcp").readdressed
    target = bytes.fromhex("250900010200009a1f0100007f")
    assert readdressed(target, 0x1234, 0x5678) == bytes.fromhex("25090001020000341201 00007f")
    source = b"\x26" + target[1:]
    assert readdressed(source, 0x1234, 0x5678) == bytes.fromhex("26090001020000785601 00007f")
    for other in (b"", b"\x25", b"\xf0" + target[1:]):
        assert readdressed(other, 0x1234, 0x5678) == other


def test_age_is_that_of_the_emulators_log_and_a_value_that_never_was_is_found():
    truth = np.array([(0.01 * n, 0.1 * n) for n in range(100)])
    rows = np.array([(0.5, 4.0, 0.02), (0.6, 6.0, 0.0), (0.7, 7.77, 0.0)])
    hidden, unknown = hidden_age(rows, truth, 1e-9)
    assert hidden == pytest.approx(0.08)
    assert unknown == 1


@pytest.mark.parametrize(
    ("name", "given", "wrong"),
    [
        ("none", {"error": "stale: no sample came"}, "a false alarm"),
        ("nothing comes", {}, "it went on"),
        ("nothing comes", {"error": "the command moves too fast"}, "another cause"),
        ("nothing comes", {"error": "stale: since then no sample came"}, ""),
        ("none", {"hidden_s": 0.03}, "30 ms of age hidden"),
        ("none", {"step": 0.002, "unit": "m"}, "a step of 0.002 m, where its speed allows 0.001"),
        ("none", {"unknown": 2}, "2 values that the device never had"),
        ("50 ms late from the first on", {"hidden_s": 0.055}, ""),
    ],
)
def test_what_is_wrong_is_named(name, given, wrong):
    chosen = disturbance(name)
    expected = chosen.expected(in_cycle=False, says_taken=True)
    verdict = WireVerdict("udp", name, **given)
    found = "; ".join(_wrongs(chosen.hides_s, verdict, 0.001, *expected))
    assert found.startswith(wrong) if wrong else not found


def test_what_ends_a_run_depends_on_what_the_device_can_say():
    """Rules hold for all: exceptions are of robots that take answers in their cycle only, and of
    devices that cannot show a restart in which nothing changed."""
    late, restart = disturbance("50 ms late from the first on"), "restart, counts go on"
    assert late.expected(in_cycle=False, says_taken=True) == ("never", ())
    assert late.expected(in_cycle=True, says_taken=True)[0] == "must"
    assert disturbance(restart).expected(in_cycle=False, says_taken=True)[0] == "must"
    assert disturbance(restart).expected(in_cycle=True, says_taken=True)[0] == "must"
    assert disturbance(restart).expected(in_cycle=False, says_taken=False)[0] == "may"
    mild = ("30 % lost", "jitter of 30 ms in order", "30 % of commands lost")
    for name in mild:
        assert disturbance(name).expected(in_cycle=False, says_taken=True)[0] == "never"


def test_causes_are_told_by_words_that_errors_have():
    """Reworded errors would count as another cause."""
    lost = disturbance("all commands lost").causes
    restarted = disturbance("restart, counts as at power-on").causes
    ledger = CommandLedger(0.004, 0.3, (0.0,))
    ledger.send(1, 0, (0.1,))
    ledger.took(0, 0)
    texts = [
        (Reason.COMMAND_LOST.text, lost),
        (ledger.lost(10**9), lost),
        (Reason.DEVICE_RESTARTED.text, restarted),
    ]
    for text, causes in texts:
        assert any(cause in text for cause in causes), text


@pytest.mark.parametrize("one", DISTURBANCES, ids=lambda one: one.name)
def test_a_supervisor_may_find_a_fault_that_exists_wherever_a_run_must_end(one):
    assert {name.upper() for name in one.reasons} <= {reason.name for reason in Reason}
    is_first = one.name == "one of another run in place of each, from the first on"
    assert one.ends != "must" or one.reasons or is_first  # such a rig is never engaged


def test_the_table_has_no_blank_cell_and_stands_between_its_marks(tmp_path):
    verdicts = [
        WireVerdict("udp", "none", hidden_s=0.0004, step=0.0001, unit="m", counts={"late": 2}),
        WireVerdict("udp", "reset", "there is no connection to close"),
        WireVerdict(
            "ur_rtde", "none", error="component 'r' (device 'ur_rtde'): odd; x", after_s=0.5
        ),
        WireVerdict("ur_rtde", "reset", error="since then no sample came", after_s=0.11),
    ]
    columns, rows = matrix_table(verdicts)
    assert columns == ["disturbance", "udp", "ur_rtde"]
    assert rows[0] == ["none", "goes on; 2 late; step 0.1 mm", "ends after 0.50 s: odd"]
    assert rows[1][2] == "ends after 0.11 s: no sample came"
    assert all(cell for row in rows for cell in row)
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- wires: begin -->\nold\n<!-- wires: end -->\nb\n")
    write_matrix(page, verdicts)
    assert page.read_text().startswith("a\n<!-- wires: begin -->\n| disturbance | udp | ur_rtde |")
    assert page.read_text().endswith("<!-- wires: end -->\nb\n")
    assert "old" not in page.read_text()
    assert short_cause("x: it was sent no command for 0.4 s") == "samples too old to be answered"
