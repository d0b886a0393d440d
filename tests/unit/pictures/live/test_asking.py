"""Every request is answered, and none that stops a rig waits for another."""

import threading
import time
from queue import SimpleQueue

import pytest

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.pictures.live import rig_view
from orchestrator.pictures.live import shown as live_shown
from orchestrator.pictures.live.messages import SET, Answered, Wish
from orchestrator.pictures.live.shown import Shown, ShownCase

WISH = Wish(SET, name="a.k", text="3")


@pytest.fixture
def run():
    """What is shown of a run that steps, and the wishes that it got."""
    wishes = SimpleQueue()
    return Shown("t", [ShownCase("one", "One", {}, state="running")], grant=wishes.put), wishes


def asking(shown, count, wish=WISH):
    """Ask so many times at once; return the answers and the threads that wait for them."""
    answers = SimpleQueue()

    def ask():
        try:
            shown.ask(wish)
            answers.put("")
        except DescriptionError as error:
            answers.put(str(error))

    threads = [threading.Thread(target=ask, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    return answers, threads


def test_values_are_set_one_after_the_other_and_each_is_answered(run):
    shown, wishes = run
    answers, threads = asking(shown, 5)
    for number in range(5):
        wish = wishes.get(timeout=30)
        assert wishes.empty()  # the next comes when this one is answered
        shown.answered(Answered(wish.number, "beyond its limits" if number == 3 else ""))
    for thread in threads:
        thread.join(30)
    told = sorted(answers.get(timeout=30) for _ in threads)
    assert told == ["", "", "", "", "beyond its limits"]
    assert not shown.is_asked


@pytest.mark.parametrize("end", ["end", "over"])
def test_all_who_wait_are_answered_when_the_run_ends(run, end):
    shown, wishes = run
    answers, threads = asking(shown, 5)
    wishes.get(timeout=30)  # and the run never answers
    if end == "end":
        shown.end("it has ended")
    else:
        shown.cases[0].state = "ended"
        shown.over("one")
    for thread in threads:
        thread.join(20)  # less than a run that does not answer is waited for
    assert all("is over" in answers.get(timeout=1) for _ in threads)
    assert wishes.empty()


def test_a_run_that_does_not_answer_is_not_waited_for_for_ever(run, monkeypatch):
    monkeypatch.setattr(live_shown, "_ANSWER", 0.2)
    shown, _ = run
    answers, threads = asking(shown, 5)
    told = [answers.get(timeout=30) for _ in threads]
    assert all("no answer within" in one or "ask again" in one for one in told)


def test_margins_that_take_long_are_not_waited_for_and_nothing_is_changed(run, monkeypatch):
    shown, wishes = run
    case, held = shown.cases[0], threading.Event()
    case.has_devices, case.rig, case.again = True, "exam", b"x"
    case.samples = type("Rows", (), {"grow": lambda *_: None, "count": 9})()

    def slow(*_):
        held.wait(60)
        raise DescriptionError("too late")

    monkeypatch.setattr(live_shown, "_SETTING", 0.2)
    monkeypatch.setattr(live_shown, "_granted", slow)
    answers, _ = asking(shown, 1)
    shown.answered(Answered(wishes.get(timeout=30).number, "", ("3",)))
    assert "the machine is busy, and nothing was changed" in answers.get(timeout=30)
    held.set()
    assert wishes.empty()


def test_a_run_that_is_gone_is_said(run):
    shown, _ = run

    def gone(_wish):
        raise BrokenPipeError

    shown.grant = gone
    answers, _ = asking(shown, 1)
    assert answers.get(timeout=30) == "the run is gone"


def test_a_stop_waits_neither_for_a_look_nor_for_a_supervisor_that_is_silent(run, monkeypatch):
    shown, _ = run
    shown.cases[0].rig = "exam"
    silent, event, wishes = threading.Event(), threading.Event(), []

    class Operator:
        def __init__(self, rig):
            assert rig == "exam"

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def wish(self, wish, **_):
            wishes.append(wish)
            if wish == "status":
                event.set()
                silent.wait(60)
            return {}

    monkeypatch.setattr(rig_view, "operator_of", Operator)
    monkeypatch.setattr(ShownCase, "complete_samples", lambda _self: None)
    looking = threading.Thread(target=shown.state, daemon=True)
    looking.start()
    assert event.wait(30)
    began = time.monotonic()
    with shown._lock:  # as somebody who looks through a long recording
        shown.operate("quickstop")
    assert shown.state()["rig"] is None  # others look meanwhile
    assert time.monotonic() - began < 30
    silent.set()
    looking.join(30)
    assert wishes == ["status", "quickstop"]
