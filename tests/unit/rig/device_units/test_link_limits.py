"""The process of a device without a wire: what it answers, publishes, and does at its end."""

import faulthandler
import math
import socket
import tempfile
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from orchestrator import DeviceError, Reason
from orchestrator.core.simunits.isolation.wire import receive, send, send_memory
from orchestrator.engine import SampleFacts
from orchestrator.rig.device_units import io_loop, supervision
from orchestrator.rig.devices import (
    DeviceConnector,
    DeviceConnectors,
    DeviceSettings,
    Received,
    RestartedError,
    WireFormatError,
)


class Block:
    """What a run shares with the process of a device."""

    def __init__(self, commands_given=0):
        self.commands_given, self.lost, self.samples, self.ticked = commands_given, "", [], []
        self.ticks = SimpleNamespace(tick=self.ticked.append)
        self.newest, self.step_ns = [0.0], 0

    def lose(self, why):
        self.lost = why

    def remark(self, what):
        self.remarked = what

    def hold(self, held):
        self.held = held

    def newest_command(self, into):
        into[:] = self.newest
        return self.commands_given, self.step_ns

    def put_sample(self, facts, values):
        self.samples.append((facts.number, facts.valid, values.tolist()))


class Gate:
    """A gate that lets all pass, and says what it was told."""

    period, stopping, behind, trusted, is_over = 0.004, False, False, True, False

    def __init__(self):
        self.said, self.sent = [], np.array([0.25])

    def command(self, wanted, number, step_ns):
        self.said.append(("command", number, step_ns))
        return wanted

    def saw(self, facts, values):
        self.said.append(("saw", facts.number))

    def take_back(self, taken=None):
        self.said.append("take back")

    def strike(self, reason):
        self.said.append(reason)

    def leave(self):
        self.said.append("leave")

    def run_ended(self, *, regularly):
        self.said.append(("ended", regularly))


def link_of(receives=(), **settings):
    ports = DeviceConnectors(
        (DeviceConnector("u", "m", start=0.5),), (DeviceConnector("y", "m"),), 250.0
    )
    queue, said = list(receives), []

    def receive(_seconds):
        found = queue.pop(0) if queue else None
        if isinstance(found, Exception):
            raise found
        return found

    device = SimpleNamespace(
        settings=DeviceSettings(**settings),
        sequence_period=None,
        answers=True,
        takes_unasked=False,
        receive=receive,
        send=lambda values: said.append(("send", list(values))),
        safe=lambda values: [each / 2 for each in values],
        account=lambda: "",
        close=lambda: said.append("close"),
        open=lambda: said.append("open"),
    )
    made = io_loop._Link(device, ports, Block(2), Gate())
    made.said = said
    return made


def sample(sequence, late_answers=None, value=1.5):
    return Received(values=(value,), sequence=sequence, late_answers=late_answers)


def test_each_sample_is_answered_published_and_ticks():
    link = link_of([sample(1), sample(2), None])
    assert (link.receive_once(), link.receive_once(), link.receive_once()) == (True, True, False)
    assert [each for each in link.said if each[0] == "send"] == [("send", [0.0])] * 2
    assert link.block.samples == [(1, 1, [1.5]), (2, 1, [1.5])]
    assert len(link.block.ticked) == 2


def test_what_is_not_trusted_is_not_valid_for_the_run():
    link = link_of([sample(1)])
    link.gate.trusted = False
    link.receive_once()
    assert link.block.samples == [(1, 0, [1.5])]
    assert link.counter.facts.valid == 1


@pytest.mark.parametrize("samples", [[sample(1)], [None]], ids=["a sample", "silence"])
def test_the_run_knows_that_its_device_is_held(samples):
    link = link_of([*samples, sample(2)])
    link.gate.trusted = False
    link.error = DeviceError("so that the loop ends")
    link.gate.watch = lambda *_: link.ended.set()
    link.receive_all()
    assert link.block.held
    link.gate.trusted = True
    link.receive_once()
    assert not link.block.held


@pytest.mark.parametrize(
    ("second", "taken_back"), [((2, 0), 0), ((2, 1), 1), ((3, 1), 0), ((3, 2), 1), ((2, None), 0)]
)
def test_an_answer_that_came_too_late_is_taken_back(second, taken_back):
    link = link_of([sample(1, 0), sample(*second)])
    link.receive_once()
    link.receive_once()
    assert link.gate.said.count("take back") == taken_back


def test_a_datagram_that_is_none_is_counted_and_a_restart_ends_it():
    link = link_of([sample(1), WireFormatError("no such frame"), RestartedError("counted from 0")])
    link.receive_once()
    assert not link.receive_once()
    assert link.refused == "no such frame"
    assert link.counter.facts.malformed == 1
    assert len(link.block.samples) == 2
    with pytest.raises(RestartedError, match=r"counted from 0: .*it gets no further commands"):
        link.receive_once()
    assert link.gate.said[-1] is Reason.DEVICE_RESTARTED


@pytest.mark.parametrize(("commands", "failed"), [(0, False), (2, True), (2, False)])
def test_the_safe_command_is_sent_at_the_end_of_a_device_that_was_commanded(commands, failed):
    link = link_of()
    link.block.commands_given = commands
    link.error = OSError("broken") if failed else None
    link.finish()
    sent = [("send", [0.125])] if commands and not failed else []
    assert link.said == [*sent, "close"]
    assert link.gate.said == ["leave"]


@pytest.mark.parametrize(
    ("ended", "failed", "commands", "stands", "over"),
    [
        (False, True, 0, True, False),
        (True, True, 2, False, True),
        (True, False, 0, False, True),
        (True, False, 2, False, False),
        (True, False, 2, True, True),
    ],
)
def test_it_is_over_when_it_is_told_to_end_and_nothing_moves(ended, failed, commands, stands, over):
    link = link_of()
    if ended:
        link.ended.set()
    link.error = OSError("broken") if failed else None
    link.block.commands_given, link.gate.is_over = commands, stands
    assert link.is_over is over


@pytest.mark.parametrize(
    ("unasked", "stopping", "doubt", "leads"),
    [
        (True, True, False, True),
        (False, True, False, False),
        (True, False, False, False),
        (True, True, True, False),
    ],
)
def test_a_device_that_is_answered_comes_to_rest_unasked_where_it_can(
    unasked, stopping, doubt, leads
):
    link = link_of()
    link.device.takes_unasked, link.gate.stopping = unasked, stopping
    link.counter = SimpleNamespace(in_doubt=doubt)
    assert link._leads is leads


@pytest.mark.parametrize(("leads", "sent"), [(True, 2), (False, 0)])
def test_a_device_that_can_be_led_gets_a_command_for_each_silence(monkeypatch, leads, sent):
    """Of five looks three find a sample, which is answered by itself."""
    link = link_of()
    heard = [True, False, True, False, True]
    monkeypatch.setattr(type(link), "is_over", property(lambda _: not heard))
    monkeypatch.setattr(type(link), "_leads", leads)
    link.receive_once = lambda: heard.pop(0)
    link.gate.watch = lambda *_: None
    commands = []
    link.send = lambda: commands.append(len(heard))
    link.receive_all()
    assert len(commands) == sent
    assert commands == [3, 1][:sent]


@pytest.mark.parametrize("commands", [1, 2])
def test_the_run_sees_the_sample_by_which_a_device_has_restarted(commands):
    link = link_of([sample(1), sample(2, value=9.0)])
    link.receive_once()
    link._jumps = SimpleNamespace(look=lambda *_: "it jumped")
    link.block.commands_given = commands
    if commands == 1:  # none of the run was sent yet
        link.receive_once()
    else:
        with pytest.raises(RestartedError, match="it jumped"):
            link.receive_once()
    assert [number for number, *_ in link.block.samples] == [1, 2]


@pytest.mark.parametrize(("late_answers", "looks"), [(None, 1), (0, 0)])
def test_a_device_that_counts_late_answers_is_not_looked_at_for_held_commands(late_answers, looks):
    link = link_of([sample(1, late_answers)])
    seen = []
    link._held = SimpleNamespace(look=lambda *_: seen.append(1), send=lambda *_: None)
    link._held.lost = lambda *_: ""
    link.receive_once()
    assert len(seen) == looks


def test_the_first_error_ends_it_and_is_told_by_the_run():
    link = link_of()

    def fail():
        raise OSError("the link broke")

    link.guarded(fail)
    link.guarded(lambda: 1 / 0)
    assert str(link.error) == "the link broke"
    assert link.block.lost == "its device was lost: OSError: the link broke"
    assert link.ended.is_set()
    going_on = link_of()
    going_on._run_on = 1.0
    going_on.guarded(fail)
    assert going_on.block.lost == ""
    assert going_on.block.held
    sent = len(going_on.said)
    going_on.send()  # a thread that waited for a command gets the next one
    assert len(going_on.said) == sent


@pytest.mark.parametrize(("told", "regularly"), [(True, True), (False, False)])
def test_a_run_whose_socket_closes_without_a_word_was_killed(monkeypatch, told, regularly):
    watched = []
    monkeypatch.setattr(
        faulthandler, "dump_traceback_later", lambda *how, **more: watched.append((how, more))
    )
    ours, theirs = socket.socketpair()
    link = link_of()
    with theirs:
        thread = threading.Thread(target=io_loop._watch, args=(theirs, link))
        thread.start()
        if told:
            send(ours, {"end": True})
        ours.close()
        thread.join(30.0)
    assert link.gate.said == [("ended", regularly)]
    assert link.ended.is_set()
    assert link.dismissed.is_set()
    assert watched == ([] if told else [((5.0,), {"exit": True})])


def test_after_it_was_told_how_it_ended_nobody_ends_it_again():
    ours, theirs = socket.socketpair()
    link = link_of()
    link.told = True
    ours.close()
    with theirs:
        io_loop._watch(theirs, link)
    assert link.gate.said == []
    assert not link.ended.is_set()


def test_a_device_that_says_nothing_in_time_is_refused_with_what_came():
    link = link_of()
    with pytest.raises(DeviceError, match=r"no sample came within 0.05 s .*; check that it is on"):
        io_loop._connect(link, 0.05)
    strange = link_of([WireFormatError("no such frame")] * 2)
    with pytest.raises(DeviceError, match="datagrams of another protocol: 2, the last: no such"):
        io_loop._connect(strange, 0.05)
    link = link_of([sample(1)] * 4)
    with pytest.raises(
        DeviceError,
        match=r"no live sample came within 0.05 s .*: 4 samples came, 3 of them repeated",
    ):
        io_loop._connect(link, 0.05)
    link = link_of([sample(1), *(sample(n) for n in range(30, 50))])
    io_loop._connect(link, 0.05)
    assert link.said[0] == "open"
    assert link.counter.facts.late == 1


def test_that_a_device_took_its_last_command_is_waited_for_300_ms(monkeypatch):
    clock = SimpleNamespace(now=5_000_000_000, monotonic_ns=lambda: clock.now)
    monkeypatch.setattr(io_loop, "time", clock)
    link = link_of()
    link.ledger = SimpleNamespace(rests=False)
    for later, settled in ((0, False), (300_000_000, False), (300_000_001, True)):
        clock.now = 5_000_000_000 + later
        assert link._has_settled is settled
    link = link_of()
    link.ledger = SimpleNamespace(rests=True)
    assert link._has_settled


def test_an_error_of_the_system_has_advice():
    refused = OSError(supervision.os.strerror(111))
    refused.errno = 111
    assert "nothing listens there" in io_loop.error_text(OSError(111, "Connection refused"))
    assert io_loop.error_text(OSError(5, "broken")) == "OSError: [Errno 5] broken"
    assert io_loop.error_text(DeviceError("as it is")) == "as it is"
    assert io_loop.error_message(ValueError("x"))["error"] == "DeviceError"
    assert math.isnan(SampleFacts().device_time) or SampleFacts().device_time == 0.0


@pytest.mark.parametrize(("stale", "waits"), [(0.001, 0.012), (0.1, 0.3)])
def test_a_command_may_be_under_way_for_three_cycles_or_three_time_outs(stale, waits):
    assert link_of(command_stale_after=stale)._waits == pytest.approx(waits)


@pytest.mark.parametrize(
    ("sequence", "device_time", "dated"),
    [(1, None, True), (None, 0.5, True), (1, 0.5, True), (None, None, False)],
)
def test_what_a_device_took_is_in_order_where_its_samples_are_dated(sequence, device_time, dated):
    link, said = link_of(), []

    def took(_values, _sample_ns, *, in_order):
        said.append(in_order)
        return ""

    link.ledger.took = took
    received = Received(values=(1.5,), sequence=sequence, device_time=device_time, taken=(0.25,))
    link._look_at_commands(received, 0, 0)
    assert said == [dated]


@pytest.mark.parametrize(
    ("in_doubt", "old", "delay_s", "asked", "what"),
    [
        (True, 0, 0.0, False, "it sends numbers or times that do not follow from the newest"),
        (False, 2, 0.0, False, "since then 2 old or repeated samples came"),
        (False, 0, 0.0, False, "since then no sample came"),
        (False, 2, 0.3, False, "its samples come, 0.3 s older by its own clock"),
        (False, 2, 0.3, True, "its samples answer requests of 0.3 s ago"),
    ],
)
def test_a_remark_says_what_is_wrong_with_the_samples(in_doubt, old, delay_s, asked, what):
    link = link_of()
    facts = SimpleNamespace(number=1, repeated=0, late=7, received_ns=0)
    link.counter = SimpleNamespace(
        facts=facts, in_doubt=in_doubt, delay_s=delay_s, old=old, answers_late=asked
    )
    link._remark()
    assert link.block.remarked.startswith(what)


def test_samples_that_stand_in_for_a_lost_device_are_not_valid():
    link = link_of([sample(1)])
    link.receive_once()
    link._run_on = 0.02
    link.stand_in()
    assert link.block.samples[0] == (1, 1, [1.5])
    assert link.block.samples[1:] == [(1, 0, [1.5])] * 5


@pytest.mark.parametrize("fails", ["gate_of", "device"])
def test_a_device_that_cannot_be_made_is_told_to_the_run(monkeypatch, fails):
    def fail(*_):
        raise OSError(111, "Connection refused")

    kind = fail if fails == "device" else SimpleNamespace
    facts = SimpleNamespace(kind=kind, settings=None)
    monkeypatch.setattr(io_loop, "device_facts", lambda _: facts)
    monkeypatch.setattr(io_loop, "gate_of", fail if fails == "gate_of" else lambda *_: Gate())
    monkeypatch.setattr(io_loop, "DeviceBlock", lambda *_: Block())
    monkeypatch.setattr(io_loop.signal, "signal", lambda *_: None)
    ours, theirs = socket.socketpair()
    with ours, tempfile.TemporaryFile() as memory:
        send(ours, {"location": "x", "component": "robot", "commands": 1, "measurements": 1})
        send_memory(ours, memory.fileno(), 2)
        io_loop.main(theirs.detach())
        answer, _ = receive(ours)
    assert "nothing listens there" in str(answer)


@pytest.mark.parametrize(
    ("silent_s", "doubt", "nones", "stopping", "sent"),
    [
        (0.0, False, 0, False, True),
        (0.03, False, 0, False, True),
        (0.06, False, 0, False, False),
        (0.0, True, 0, False, False),
        (0.0, False, 1, False, False),
        (0.06, True, 1, True, True),  # a device that cannot be heard is led to rest
    ],
)
def test_a_device_that_may_be_another_one_is_sent_nothing_but_its_way_to_rest(
    silent_s, doubt, nones, stopping, sent
):
    """A rig that was silent for 60 ms while it restarted jumped by 21 mm."""
    link = link_of([], command_stale_after=0.1)
    link._silent_ns *= 1000  # a busy machine takes its time, too
    link._sampled_ns = time.monotonic_ns() - round(1000 * silent_s * 1e9)
    link.counter.in_doubt, link.ledger._nones = doubt, nones
    link.gate.stopping, link.gate.behind = stopping, True
    link.gate.command = lambda *_: link.ended.set() or [0.5]
    link.gate.is_over = True
    ender = threading.Timer(0.05 if not sent else 5.0, link.ended.set)
    ender.start()
    link.block.commands_given = 1
    link.ledger._says = False
    link.send_all()
    ender.cancel()
    assert [each for each in link.said if each[0] == "send"] == [("send", [0.5])] * sent


def test_a_device_that_restarted_is_sent_nothing_not_even_its_way_to_rest():
    """The thread that sends found the gate on its way to rest, and the rig jumped by 23 mm."""
    link = link_of([sample(1, value=0.0)])
    link.receive_once()
    link.said.clear()
    link._restarted("it began again")
    link.gate.stopping = True
    link.gate.command = lambda *_: [0.5]
    link.send()
    assert link.said == []


@pytest.mark.parametrize("first", [None, OSError("lost")])
def test_a_device_that_fails_at_its_end_is_told_unless_it_had_failed_before(monkeypatch, first):
    def stuck():
        raise OSError("stuck")

    monkeypatch.setattr(io_loop, "_connect", lambda *_: None)
    monkeypatch.setattr(io_loop.signal, "signal", lambda *_: None)
    link = link_of()
    link.error, link.receive_all, link.finish = first, lambda: None, stuck
    link.stand_in = lambda: None
    ours, theirs = socket.socketpair()
    with ours, theirs:
        io_loop._serve(theirs, link, 0.05)
        assert receive(ours)[0] == {"opened": True}
        answer, _ = receive(ours)
    assert ("stuck" if first is None else "lost") in str(answer)
