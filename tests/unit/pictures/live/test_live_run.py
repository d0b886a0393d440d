"""Runs that are looked at while they go on."""

import json
import threading
import time
from contextlib import suppress
from http.client import HTTPException
from urllib.parse import urlsplit

import numpy as np
import pytest
from live_pages import asked, deaf_viewer, samples_of, state_of, wish

from orchestrator.core.diagnostics import DescriptionError, SoftdockError
from orchestrator.core.master.run import recorder
from orchestrator.core.recording import Journal, read_result
from orchestrator.core.simunits import Block, Input, Output, Parameter
from orchestrator.pictures.live.door import listening
from orchestrator.pictures.live.extension import Viewing
from orchestrator.pictures.live.messages import Begun, Said
from orchestrator.study import read_experiment
from orchestrator.study.prepare.prepared_case import RunSettings
from orchestrator.study.runner import run_with

SYSTEM = """
[system]
name = "one"
[component.x]
source = "block:held"
values = { u = 0.0 }
[component.y]
source = "block:held"
[connections]
"x.y -> y.u" = { delay = "3 ms" }
"""
EXPERIMENT = """
title = "Looked at"
[defaults]
step = "1 ms"
stop = "200 ms"
[case.one]
system = "system.toml"
"""
QUIET = "[realtime]\npriority = 0\nlock_memory = false\n"


class Held(Block):
    """Goes no further than half of the run before somebody has looked."""

    u: float = Input(unit="m")
    y: float = Output(unit="m")
    k: float = Parameter(start=1.0, minimum=0.0, maximum=9.0, tunable=True)
    looked = threading.Event()
    missing = 1

    @classmethod
    def has_looked(cls):
        cls.missing -= 1
        if cls.missing == 0:
            cls.looked.set()

    def step(self, t, h):
        self.y = self.k * np.sin(t + h)
        if t > 0.0995:
            assert self.looked.wait(20.0)


@pytest.fixture
def folder(tmp_path, register):
    Held.looked, Held.missing = threading.Event(), 1
    register(held=Held)
    (tmp_path / "system.toml").write_text(SYSTEM)

    def write(table=""):
        file = tmp_path / "experiment.toml"
        file.write_text(EXPERIMENT + table)
        return read_experiment(file), tmp_path, tmp_path / "out"

    return write


class Viewers:
    """Threads that look at a run from its announcement on, each until it knows that it ended."""

    def __init__(self, *look):
        self._look, self.threads, self.failed = look, [], []

    def __call__(self, text):
        url = text.removeprefix("live: ")
        for look in self._look:
            thread = threading.Thread(target=self._call, args=(look, url))
            thread.start()
            self.threads.append(thread)

    def _call(self, look, url):
        try:
            look(url)
        except Exception as error:
            self.failed.append(error)
            raise

    def join(self):
        for thread in self.threads:
            thread.join()
        assert self.failed == []


def until(condition):
    """Return what a condition gives as soon as that is something."""
    while not (found := condition()):
        time.sleep(0.005)
    return found


def go(url, viewer):
    """Say that a viewer knows of the end; the server may be gone with another one."""
    with suppress(ConnectionError, HTTPException):
        state_of(url, viewer=viewer, done=1)


def looking(found, rows=50):
    """Return a viewer that looks in the middle of the run, and then at its end."""

    def look(url):
        def running():
            (*_, case) = state_of(url, viewer=rows)["cases"] or [{}]
            return case.get("rows", 0) >= rows and case

        middle = until(running)
        found["state"] = middle["state"]
        found["middle"] = samples_of(url, [0, 1], 0, 10**12, at_ns=40_000_000)
        found["diagram"] = asked(url, "case", case=0)[2].decode()
        Held.has_looked()
        until(lambda: state_of(url, viewer=rows)["ended"])
        found["end"] = samples_of(url, [0, 1], 0, 10**12)
        found["known"] = asked(url, "case", case=0)[2].decode()
        go(url, rows)

    return look


@pytest.mark.parametrize("table", ["", QUIET], ids=["plain", "paced"])
def test_what_is_shown_is_what_is_recorded(folder, table):
    one, other, Held.missing = {}, {}, 2
    viewers = Viewers(looking(one), looking(other, rows=90))
    settings = RunSettings(live="0")
    outcome = run_with(*folder(table), settings, announce=viewers)
    viewers.join()
    result = outcome.cases["one"].result
    for found in (one, other):
        times, signals, row, about = found["middle"]
        assert (found["state"], about["exact"]) == ("running", True)
        assert 50 <= len(times) <= 101
        np.testing.assert_array_equal(times, result.time[: len(times)])
        np.testing.assert_array_equal(signals, result.values[: len(times)].T)
        np.testing.assert_array_equal(row, result.values[40])
        assert "<svg" in found["diagram"]
        times, signals, _, _ = found["end"]
        np.testing.assert_array_equal(times, result.time)
        np.testing.assert_array_equal(signals, result.values.T)
        assert ("Timing of" in found["known"]) == bool(table)
    plain = run_with(*folder(table), RunSettings()).cases["one"].result
    np.testing.assert_array_equal(plain.values, result.values)


def test_viewers_that_never_read_or_die_do_not_matter(folder):
    seen = {}

    def deaf(url):
        until(lambda: state_of(url)["cases"])
        with deaf_viewer(url, "0"):
            until(lambda: Held.looked.is_set())

    def dying(url):
        asked(url, "state")  # and never again

    viewers = Viewers(looking(seen), deaf, dying)
    outcome = run_with(*folder(), RunSettings(live="0"), announce=viewers)
    viewers.join()
    assert len(outcome.cases["one"].result.time) == 201
    assert len(seen["end"][0]) == 201


@pytest.mark.parametrize("last", ["go", "stop"])
def test_a_run_stands_steps_goes_on_and_ends_as_is_wished(folder, last):
    seen = []

    def steer(url):
        def case():
            return (state_of(url, viewer="me")["cases"] or [{}])[-1]

        def stands_at(rows):
            return until(
                lambda: (now := case())["state"] == "standing" and now["rows"] == rows and now
            )

        until(lambda: case().get("rows", 0) > 50)
        wish(url, "pause")
        Held.looked.set()  # and it stands as soon as its chunk is done
        rows = until(lambda: (now := case())["state"] == "standing" and now["rows"])
        seen.append(rows)
        for more in (1, 2):
            wish(url, "step")
            stands_at(rows + more)
        times, signals, row, _ = samples_of(url, [0], 0, 10**12, at_ns=10**12)
        seen.extend((len(times), float(row[0]), float(signals[0, -1])))
        wish(url, last)
        until(lambda: state_of(url, viewer="me")["ended"])
        go(url, "me")

    viewers = Viewers(steer)
    result = run_with(*folder(), RunSettings(live="0"), announce=viewers).cases["one"].result
    viewers.join()
    rows, count, row, sample = seen
    assert count == rows + 2
    assert row == sample == result.values[count - 1, 0]
    stopped = [note for note in result.notes if "stopped by the operator at" in note]
    assert (len(result.time), len(stopped)) == ((count, 1) if last == "stop" else (201, 0))
    plain = run_with(*folder(), RunSettings()).cases["one"].result
    np.testing.assert_array_equal(plain.values[: len(result.time)], result.values)


def test_a_run_that_stands_goes_on_when_nobody_can_wish_any_more(folder, monkeypatch):
    begun = []
    begin = Viewing.__init__

    def kept(self, address, title):
        begin(self, address, title)
        begun.append(self)

    monkeypatch.setattr(Viewing, "__init__", kept)

    def steer(url):
        until(lambda: (state_of(url)["cases"] or [{}])[-1].get("rows", 0) > 50)
        wish(url, "pause")
        Held.looked.set()
        until(lambda: state_of(url)["cases"][-1]["state"] == "standing")
        begun[0]._process.send_signal()

    viewers = Viewers(steer)
    result = run_with(*folder(), RunSettings(live="0"), announce=viewers).cases["one"].result
    viewers.join()
    assert len(result.time) == 201


def test_a_run_in_real_time_is_not_steered(folder):
    seen = {}

    def steer(url):
        until(lambda: (state_of(url)["cases"] or [{}])[-1].get("rows", 0) > 50)
        own = {"Origin": f"http://{urlsplit(url).netloc}"}
        seen["answer"] = asked(url, "wish", own, "POST", wish="stop")
        Held.looked.set()

    viewers = Viewers(steer)
    result = run_with(*folder(QUIET), RunSettings(live="0"), announce=viewers).cases["one"].result
    viewers.join()
    status, _, content = seen["answer"]
    assert (status, b"not steered by viewers" in content) == (400, True)
    assert len(result.time) == 201


@pytest.mark.parametrize("table", ["", f"{QUIET}factor = 50.0\n"], ids=["plain", "paced"])
def test_a_run_is_tuned_and_marked_and_done_again_bit_for_bit(folder, table, monkeypatch):
    answers = []

    def patient(self, t, h):
        self.y = self.k * np.sin(t + h)
        self.looked.wait(0.002)

    def tune(url):
        def ask(path, **given):
            own = {"Origin": f"http://{urlsplit(url).netloc}"}
            answers.append(json.loads(asked(url, path, own, "POST", **given)[2]).get("refused"))

        until(lambda: (state_of(url)["cases"] or [{}])[-1].get("rows", 0) > 50)
        ask("set", name="x.k", value="3", ramp="0.02")
        ask("set", name="x.y -> y.u", value="2 ms", by="me")
        ask("mark", text="<b>now")
        ask("set", name="x.k", value="10")
        ask("set", name="x.q", value="1")
        content = json.loads(asked(url, "case", case=0)[2])
        answers.append([one["kind"] for one in content["done"]])
        answers.append([one["name"] for one in content["tunables"]])
        Held.looked.set()

    monkeypatch.setattr(Held, "step", patient)
    viewers = Viewers(tune)
    table += '[tuning."y.k"]\nmaximum = 5.0\n'
    experiment, source, output = folder(table)
    defaults = experiment.defaults.model_copy(update={"stop": "4 s"})
    experiment = experiment.model_copy(update={"defaults": defaults})
    result = run_with(experiment, source, output, RunSettings(live="0"), announce=viewers)
    viewers.join()
    result = result.cases["one"].result
    assert answers[:3] == [None, None, None]
    assert answers[3] == "x.k: expected >= 0 and <= 9, found 10.0, beyond its limits"
    assert "no connector 'q'" in answers[4]
    assert answers[5:] == [["set", "set", "mark"], ["x.u", "x.k", "y.k", "x.y -> y.u"]]
    assert [mark.text for mark in result.marks] == ["<b>now"]
    assert any("x.k from 1 to 3 over 20 steps" in remark for remark in result.remarks)
    assert "&lt;b&gt;now" in (output / "report.html").read_text()
    kept = next(output.glob("one.*"))
    again = run_with(experiment, source, source / "again", RunSettings(tuning=kept))
    again = again.cases["one"].result
    assert again.values.tobytes() == result.values.tobytes()
    assert again.tuned == result.tuned == read_result(kept).tuned


def test_a_result_without_tuning_is_none_to_be_repeated(folder, wording):
    experiment, source, output = folder()
    Held.looked.set()
    run_with(experiment, source, output, RunSettings())
    kept = next(output.glob("one.*"))
    with wording.raises(DescriptionError):
        run_with(experiment, source, output, RunSettings(tuning=kept))


@pytest.mark.parametrize(
    "table",
    [
        '[tuning."x.kk"]\nmaximum = 1.0\n',
        '[tuning."x.k"]\nmaximum = "1 s"\n',
        '[tuning."x.k"]\nmaximum = 1.0\nminimum = 2.0\n',
    ],
)
def test_limits_that_make_no_sense_end_the_run_before_it_begins(folder, table, wording):
    with wording.raises(DescriptionError):
        run_with(*folder(table), RunSettings())


def test_an_address_that_is_taken_ends_the_run_before_anything_is_written(folder):
    taken, _ = listening("0")
    experiment, source, output = folder()
    with taken, pytest.raises(DescriptionError, match="in use; give another port"):
        run_with(experiment, source, output, RunSettings(live=str(taken.getsockname()[1])))
    assert not list(output.glob("*"))


@pytest.mark.parametrize("room", [1 << 20, 60])
def test_a_run_that_chooses_its_steps_is_looked_at(folder, monkeypatch, room):
    monkeypatch.setattr(recorder, "_MOST_SHARED", room)
    experiment, source, output = folder()
    options = {"algorithm": "step-doubling", "algorithm_options": {"relative": 1e-3}}
    case = experiment.case["one"].model_copy(update=options)
    experiment = experiment.model_copy(update={"case": {"one": case}})
    found = {}

    def look(url):
        def enough():
            (*_, case) = state_of(url, viewer=1)["cases"] or [{}]
            return case.get("rows", 0) >= 10

        until(enough)
        found["middle"] = samples_of(url, [1], 0, 200_000_000)
        Held.has_looked()
        until(lambda: state_of(url, viewer=1)["ended"])
        found["end"] = samples_of(url, [1], 0, 200_000_000)
        go(url, 1)

    viewers = Viewers(look)
    outcome = run_with(experiment, source, output, RunSettings(live="0"), announce=viewers)
    viewers.join()
    result = outcome.cases["one"].result
    for times, signals, _, about in found.values():
        assert about["exact"]
        np.testing.assert_array_equal(times, result.time[: len(times)])
        np.testing.assert_array_equal(signals[0], result.values[: len(times), 1])
    seen = len(found["end"][0])
    said = any("saw its first " in note for note in result.notes)
    assert (seen == len(result.time), said) == ((True, False) if room > 60 else (False, True))


def test_a_run_goes_on_without_its_viewing_process_and_says_so(folder, monkeypatch):
    begin = Viewing.__init__

    def doomed(self, address, title):
        begin(self, address, title)
        self._process.finish()

    monkeypatch.setattr(Viewing, "__init__", doomed)
    Held.looked.set()
    outcome = run_with(*folder(), RunSettings(live="0"))
    result = outcome.cases["one"].result
    assert len(result.time) == 201
    assert any("without its live view" in note for note in result.notes)


def test_a_disk_that_is_full_is_told_to_viewers(folder, monkeypatch):
    def full(self, _result):
        raise SoftdockError(f"{self.folder}: No space left on device")

    monkeypatch.setattr(Journal, "add", full)
    monkeypatch.setattr(Journal, "due", True)
    seen = {}
    viewers = Viewers(looking(seen))
    outcome = run_with(*folder(), RunSettings(live="0"), announce=viewers)
    viewers.join()
    assert any("No space left" in note for note in outcome.cases["one"].result.notes)
    assert "No space left" in seen["known"]


def test_viewers_learn_that_a_run_was_killed():
    viewing = Viewing("0", "killed")
    viewing.say(Begun("one", "One", None, ""))
    until(lambda: state_of(viewing.url)["cases"])
    state_of(viewing.url, viewer="me")
    viewing._channel.close()  # as the end of its process does
    ended = until(lambda: state_of(viewing.url, viewer="me")["ended"])
    assert ended == "the run was ended from outside"
    go(viewing.url, "me")
    viewing._process.wait(10.0)
    with pytest.raises((OSError, HTTPException)):
        state_of(viewing.url)


def test_nobody_waits_for_a_viewer_where_there_is_none():
    viewing = Viewing("0", "alone")
    viewing.say(Begun("one", "One", None, ""))
    viewing.say(Said("one", (), ("done",), is_over=True))
    until(lambda: state_of(viewing.url)["cases"])
    viewing.end("over")
    assert viewing._process.returncode == 0
    viewing.say(Said("one"))
    assert viewing.lost
