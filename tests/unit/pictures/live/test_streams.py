"""Rows for other programs: what PlotJuggler reads by UDP, and Foxglove by its SDK."""

import json
import os
import signal
import socket
from contextlib import closing
from types import SimpleNamespace

import numpy as np
import pytest

from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.core.files.mcap import channel_plans
from orchestrator.core.realtime import SharedRows
from orchestrator.core.recording import Result, read_result
from orchestrator.pictures.live import streams
from orchestrator.pictures.live.extension import Beside
from orchestrator.pictures.live.messages import CaseReady, Ended, Said
from orchestrator.pictures.live.streams import Foxglove, Streaming, Streams, Udp, place_of
from orchestrator.study import read_experiment
from orchestrator.study.prepare.prepared_case import RunSettings
from orchestrator.study.runner import run_with

MS = 1_000_000
NAMES = ("a.x", "a.<b>", "c.y")
BEGUN = Result("run", np.array([0]), NAMES, np.zeros((1, 3)), {"a.x": "m"})


@pytest.fixture
def receiver():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as heard:
        heard.bind(("127.0.0.1", 0))
        heard.settimeout(30.0)
        yield heard


def received(heard, count):
    return [json.loads(heard.recv(65536)) for _ in range(count)]


def udp(heard):
    return closing(Udp(*heard.getsockname()))


def test_a_row_is_an_object_with_its_time(receiver):
    values = np.array([[0.1, -2.0, np.nan], [1e-9, np.inf, 3.0]])
    with udp(receiver) as sink:
        sink.begin('one "case"', channel_plans(NAMES, {}))
        sink.send(np.array([1 * MS, 2 * MS]), values)
    assert received(receiver, 2) == [
        {"timestamp": 0.001, 'one "case"': {"a": {"x": 0.1, "<b>": -2.0}, "c": {"y": None}}},
        {"timestamp": 0.002, 'one "case"': {"a": {"x": 1e-9, "<b>": None}, "c": {"y": 3.0}}},
    ]


def test_a_long_row_is_sent_in_parts(receiver):
    names = [f"part{number}.{'x' * 40}{k}" for number in range(30) for k in range(60)]
    with udp(receiver) as sink:
        sink.begin("run", channel_plans(names, {}))
        sink.send(np.array([MS]), np.arange(float(len(names)))[np.newaxis])
    parts = received(receiver, 2)
    assert [part["timestamp"] for part in parts] == [0.001, 0.001]
    found = [value for part in parts for one in part["run"].values() for value in one.values()]
    assert found == list(range(len(names)))


class Kept:
    """A sink that keeps what it is given."""

    def __init__(self):
        self.cases, self.times, self.values = [], [], []

    def begin(self, case, plans):
        self.cases.append((case, [plan.topic for plan in plans]))

    def send(self, times_ns, values):
        self.times += times_ns.tolist()
        self.values += values.tolist()


@pytest.fixture
def sent(monkeypatch):
    monkeypatch.setattr(streams, "time", SimpleNamespace(sleep=lambda _seconds: None))
    sink = Kept()
    return sink, Streaming(sink)


def shared(streaming, room=20_000):
    rows = SharedRows(room, len(NAMES))
    streaming.take(CaseReady(BEGUN, room, 0, None), os.dup(rows.file))

    def write(count):
        first = rows.written
        rows.values[first : first + count] = np.arange(first, first + count)[:, np.newaxis]
        rows.times_ns[first : first + count] = MS * np.arange(first + 1, first + count + 1)

    return write


def test_rows_are_sent_once_and_in_order(sent):
    sink, streaming = sent
    write = shared(streaming)
    assert (sink.cases, sink.times) == ([("run", ["/a", "/c"])], [0])
    write(50)
    streaming.send()
    assert sink.times == [MS * k for k in range(50)]  # the last may lack values
    streaming.send()
    assert len(sink.times) == 50
    write(300)
    streaming.take(Said("run", is_over=True), None)
    assert sink.times == [MS * k for k in range(351)]
    assert sink.values[1:] == [[k, k, k] for k in range(350)]


def test_of_many_rows_the_extremes_are_sent_and_the_last(sent):
    sink, streaming = sent
    write = shared(streaming)
    write(15_000)
    streaming.take(Said("run", is_over=True), None)
    assert len(sink.times) <= streams._MOST + 3
    assert sink.times == sorted(sink.times)
    assert (sink.times[-1], sink.values[-1]) == (15_000 * MS, [14_999] * 3)
    streaming.take(Ended(""), None)
    assert sink.times[-1] == 15_000 * MS


def test_foxglove_is_given_what_an_mcap_file_has(tmp_path):
    from foxglove import open_mcap

    with closing(Foxglove("127.0.0.1", 0)) as sink, open_mcap(tmp_path / "seen.mcap"):
        sink.begin("run", channel_plans(NAMES, {"a.x": {"unit": "m"}}))
        sink.send(np.array([1 * MS, 2 * MS]), np.array([[0.1, -2.0, 3.0], [4.0, 5.0, 6.0]]))
    result = read_result(tmp_path / "seen.mcap")
    assert set(result.names) == {"run/a.x", "run/a.<b>", "run/c.y"}
    np.testing.assert_array_equal(result.time_ns, [1 * MS, 2 * MS])
    np.testing.assert_array_equal(result["run/a.x"], [0.1, 4.0])
    assert result.units == {"run/a.x": "m"}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("udp", ("udp", "127.0.0.1", 9870)),
        ("udp:1234", ("udp", "127.0.0.1", 1234)),
        ("udp:localhost:1234", ("udp", "localhost", 1234)),
        ("udp:[::1]:1234", ("udp", "::1", 1234)),
    ],
)
def test_an_address_is_read(text, place):
    assert place_of(text) == place


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tcp:1", "stream: expected one of udp, foxglove, found 'tcp:1'"),
        ("udp:x", "stream: udp:x: expected udp:PORT or udp:HOST:PORT"),
        ("udp:0", "expected udp:PORT"),
        ("udp::1", "expected udp:PORT"),
        ("udp:a.invalid:1", "a.invalid: no such host"),
    ],
)
def test_one_that_is_none_is_refused(text, said):
    with pytest.raises(DescriptionError, match=said.replace("[", r"\[")):
        place_of(text)


def test_a_port_that_another_program_has_is_refused_and_a_package_that_is_missing(
    monkeypatch, wording
):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(DescriptionError, match=f"{port}: cannot be listened to"):
            place_of(f"foxglove:{port}")
    with wording.raises(DescriptionError):
        place_of("foxglove:0.0.0.0:8765")
    monkeypatch.setattr(streams, "missing_module", lambda _name: "needs a package")
    with wording.raises(CapabilityError):
        place_of("foxglove:1")


SYSTEM = """
[system]
name = "one"
[component.contact]
source = "block:spring_dashpot"
values = { position_a = 0.1, velocity_a = 0.0, position_b = 0.0, velocity_b = 0.0 }
"""
EXPERIMENT = """
title = "Sent"
[defaults]
step = "1 ms"
stop = "60 ms"
[case.one]
system = "system.toml"
[case.two]
system = "system.toml"
"""


@pytest.mark.slow
def test_a_run_sends_all_its_rows(tmp_path, receiver):
    (tmp_path / "system.toml").write_text(SYSTEM)
    (tmp_path / "experiment.toml").write_text(EXPERIMENT)
    experiment = read_experiment(tmp_path / "experiment.toml")
    address = f"udp:{receiver.getsockname()[1]}"
    settings = RunSettings(stream=(address,))
    said = []
    outcome = run_with(experiment, tmp_path, tmp_path / "out", settings, announce=said.append)
    assert said == [f"stream: udp:127.0.0.1:{address[4:]}"]
    for name in ("one", "two"):  # so few that the socket keeps them all
        result, rows = outcome.cases[name].result, received(receiver, 61)
        assert [row["timestamp"] for row in rows] == result.time.tolist()
        found = [row[name]["contact"]["force_a"] for row in rows]
        assert found == result["contact.force_a"].tolist()


@pytest.mark.slow
def test_one_that_hangs_is_ended_and_named(tmp_path, receiver, monkeypatch, caplog):
    (tmp_path / "system.toml").write_text(SYSTEM)
    (tmp_path / "experiment.toml").write_text(EXPERIMENT)
    monkeypatch.setattr(streams, "_FAREWELL", 0.1)
    begin = Streams.begin

    def stopped(self, run):
        begin(self, run)
        self._streams[0]._process.send_signal(signal.SIGSTOP)

    monkeypatch.setattr(Streams, "begin", stopped)
    where = f"udp:127.0.0.1:{receiver.getsockname()[1]}"
    experiment = read_experiment(tmp_path / "experiment.toml")
    outcome = run_with(experiment, tmp_path, tmp_path / "out", RunSettings(stream=(where,)))
    assert set(outcome.cases) == {"one", "two"}
    assert caplog.messages == [f"the stream to {where} was ended before it had sent all rows"]


def test_one_that_dies_is_left_alone():
    stream = Beside("json.tool", ("/no/such/file",), "stream to udp:9")
    assert stream._process.wait(20.0)
    stream.say(Said("one"))
    assert stream.lost.startswith("the run went on without its stream to udp:9: ")
    stream.say(Said("one"))
    stream.end("")
