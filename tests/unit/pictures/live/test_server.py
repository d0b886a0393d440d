"""Who may look, and what is told to those who do."""

import http.client
import json
import socket
from contextlib import ExitStack, contextmanager, suppress
from urllib.parse import urlsplit

import numpy as np
import pytest
from live_pages import HOSTILE, MS, asked, deaf_viewer, recording, samples_of, served, state_of

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.pictures.live import door as live_door
from orchestrator.pictures.live import server as live_server
from orchestrator.pictures.live.door import listening
from orchestrator.pictures.live.shown import Shown, replayed
from orchestrator.study import Section


@pytest.fixture(scope="module")
def page():
    with served(replayed(recording())) as url:
        yield url


def test_values_are_those_of_the_recording(page):
    expected = recording()
    times, signals, row, about = samples_of(page, [3, 0], 1000 * MS, 1500 * MS, at_ns=1234 * MS)
    assert (about["row_ns"], about["exact"]) == (1234 * MS, True)
    np.testing.assert_array_equal(times, expected.time[999:1502])
    np.testing.assert_array_equal(signals, expected.values[999:1502, [3, 0]].T)
    np.testing.assert_array_equal(row, expected.values[1234])


def test_of_many_samples_the_extremes_are_told(page):
    times, signals, _, about = samples_of(page, [1], 0, 4000 * MS, most=100)
    assert not about["exact"]
    assert len(times) <= 104
    expected = recording().values[:, 1]
    assert (signals.min(), signals.max()) == (expected.min(), expected.max())


def test_the_state_of_a_recording(page):
    state = state_of(page)
    (case,) = state["cases"]
    assert (state["recorded"], state["ended"], state["rig"]) == (True, "", None)
    assert (case["name"], case["state"], case["rows"]) == ("sway", "recorded", 4001)
    assert (case["begin_ns"], case["end_ns"]) == (0, 4000 * MS)


@pytest.mark.parametrize(
    ("path", "given"),
    [
        ("case", {"case": "1"}),
        ("case", {"case": "-1"}),
        ("case", {}),
        ("case", {"case": "x"}),
        ("samples", {"case": 0, "columns": "4", "begin_ns": 0, "end_ns": 1, "at_ns": 0, "most": 9}),
        ("samples", {"case": 0, "columns": "0", "begin_ns": 0, "end_ns": 1, "at_ns": 0}),
        ("samples", {"case": 0, "columns": "0", "begin_ns": 1e99, "at_ns": 0, "most": 9}),
    ],
)
def test_what_cannot_be_answered_is_said(page, path, given):
    status, _, content = asked(page, path, **given)
    assert status == 400, content
    assert state_of(page)["cases"]


def test_there_is_no_other_page(page):
    assert asked(page, "etc/passwd")[0] == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://elsewhere.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Host": "elsewhere.example:8700"},  # its name server says that it is this machine
    ],
)
def test_pages_of_others_see_nothing(page, headers):
    for path in ("state", "case", "samples"):
        assert asked(page, path, headers, case=0)[0] == 403


def test_its_own_page_may_ask_and_a_link_may_lead_to_it(page):
    host = urlsplit(page).netloc
    own = {"Origin": f"http://{host}", "Sec-Fetch-Site": "same-origin"}
    assert asked(page, "state", own)[0] == 200
    assert asked(page, "", {"Sec-Fetch-Site": "cross-site"})[0] == 200


@pytest.mark.parametrize("address", ["127.0.0.1:0", "127.0.0.2:0", "localhost:0", "[::1]:0"])
def test_this_machine_has_several_names(address):
    try:
        with served(replayed(recording(10)), address) as url:
            assert state_of(url)["cases"]
            assert asked(url, "state", {"Host": "localhost"})[0] == 200
            assert asked(url, "state", {"Host": "127.0.0.3:80"})[0] == 403
    except DescriptionError as error:
        pytest.skip(f"this machine has no such address: {error}")


def test_only_its_own_page_may_wish(page):
    host = urlsplit(page).netloc
    others = [{}, {"Origin": "null"}, {"Origin": "http://elsewhere.example"}]
    others += [{"Origin": f"http://{host}", "Sec-Fetch-Site": "cross-site"}]
    assert [asked(page, "wish", one, "POST", wish="stop")[0] for one in others] == [
        404,
        403,
        403,
        403,
    ]
    for path in ("set", "mark", "operate"):
        assert [asked(page, path, one, "POST")[0] for one in others] == [404, 403, 403, 403]
    own = {"Origin": f"http://{host}"}
    assert asked(page, "wish", own, wish="stop")[0] == 404  # a link is no wish
    refused = json.loads(asked(page, "mark", own, "POST", text="x")[2])["refused"]
    assert refused == "the run has not begun its steps: it is tuned and marked while it steps"
    refused = json.loads(asked(page, "operate", own, "POST", wish="arm")[2])["refused"]
    assert refused == "this run has no supervisor"
    status, _, content = asked(page, "set", own, "POST", name="a.k")
    assert (status, content) == (400, b"expected 'value' in the address\n")
    for value in ("", "nan", "1"):  # an empty value is one, which the run refuses by its name
        status, _, content = asked(page, "set", own, "POST", name="a.k", value=value)
        assert (status, "refused" in json.loads(content)) == (200, True)
    for word in ("stop", "jump"):
        assert asked(page, "wish", own, "POST", wish=word)[0] == 400  # of a recording


def test_a_browser_may_do_nothing_but_ask_its_server(page):
    _, headers, _ = asked(page, "")
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "connect-src 'self'" in policy
    assert policy.count("sha256-") == 2
    assert "'unsafe" not in policy.replace("style-src 'unsafe-inline'", "")


@pytest.mark.parametrize("is_local", [True, False])
def test_every_address_needs_the_token(monkeypatch, is_local):
    monkeypatch.setattr("ipaddress.IPv4Address.is_loopback", is_local)
    with served(replayed(recording(10))) as url:
        token = urlsplit(url).query.removeprefix("token=")
        assert len(token) > 20
        assert asked(url, "state")[0] == 200
        for wrong in ("", "x", "é", "\0", token[:-1], f"{token}x"):
            for path in ("", "state", "case", "samples", "none"):
                status, headers, content = asked(url, path, token=wrong)
                assert (status, headers["Connection"]) == (403, "close")
                assert b"expected the token that the run printed" in content
            own = {"Origin": f"http://{urlsplit(url).netloc}"}
            for path in ("wish", "set", "mark", "operate"):
                assert asked(url, path, own, "POST", token=wrong)[0] == 403


def test_each_page_has_another_token():
    tokens = set()
    for address in ("0", "0.0.0.0:0", "0"):
        listener, token = listening(address)
        with listener:
            tokens.add(token)
    assert len(tokens) == 3


def test_an_address_that_is_taken_is_refused():
    taken, _ = listening("0")
    with taken:
        port = taken.getsockname()[1]
        with pytest.raises(DescriptionError, match=rf"live: {port}: .*in use; give another port"):
            listening(str(port))


@pytest.mark.parametrize("address", ["", "x", ":80", "70000", "host:", "no.such.host.invalid:1"])
def test_what_is_no_address_is_refused(address, wording):
    with wording.raises(DescriptionError):
        listening(address)


WIDE = ",".join(map(str, range(40)))


def wide_recording():
    return replayed(recording(20_000, tuple(f"c.x{i}" for i in range(40))))


def test_a_viewer_that_never_reads_keeps_nobody_from_looking():
    with served(wide_recording()) as url, deaf_viewer(url, WIDE):
        for _ in range(10):
            assert state_of(url)["cases"][0]["rows"] == 20_000


def test_a_viewer_that_never_reads_is_given_up(monkeypatch):
    monkeypatch.setattr(live_server._Viewer, "timeout", 0.2)
    with served(wide_recording()) as url, deaf_viewer(url, WIDE):
        assert state_of(url)["cases"]


#: What strangers send: nothing, half a request, one with a wrong token that goes on for ever.
HALVES = [
    b"",
    b"GET /state HTTP/1.1\r\nx",
    b"GET /state?token=no HTTP/1.1\r\nHost: localhost\r\nx: ",
]


@contextmanager
def strangers(url, count, content):
    """Connect so many times, and never come to the end of a request."""
    place = (urlsplit(url).hostname, urlsplit(url).port)
    with ExitStack() as kept:
        for _ in range(count):
            one = kept.enter_context(socket.create_connection(place))
            one.sendall(content)
        yield


@pytest.mark.parametrize("content", HALVES)
def test_strangers_keep_out_nobody_who_knows_the_token(content):
    with served(replayed(recording(10))) as url, strangers(url, 200, content):
        for _ in range(20):
            assert state_of(url)["cases"]


def test_a_viewer_who_is_known_is_not_closed_for_strangers(monkeypatch):
    monkeypatch.setattr(live_door, "MOST_STRANGERS", 2)
    with served(replayed(recording(10))) as url:
        place = urlsplit(url)
        connection = http.client.HTTPConnection(place.hostname, place.port, timeout=10)
        connection.request("GET", f"/state?{place.query}")
        assert connection.getresponse().read()
        with strangers(url, 10, HALVES[1]):
            connection.request("GET", f"/state?{place.query}")
            assert json.loads(connection.getresponse().read())["cases"]
        connection.close()


def test_the_oldest_stranger_goes_for_a_newer_one(monkeypatch):
    monkeypatch.setattr(live_door, "MOST_STRANGERS", 2)
    with served(replayed(recording(10))) as url:
        place = (urlsplit(url).hostname, urlsplit(url).port)
        with ExitStack() as kept:
            each = [kept.enter_context(socket.create_connection(place)) for _ in range(3)]
            each[0].settimeout(10.0)
            assert each[0].recv(100) == b""
            each[2].sendall(f"GET /state?{urlsplit(url).query} HTTP/1.1\r\n".encode())
            each[2].sendall(b"Host: localhost:1\r\n\r\n")
            assert b"200 OK" in each[2].recv(100)


@pytest.mark.parametrize("lines", [1, 90])
def test_a_request_that_is_too_long_is_not_read(lines):
    with served(replayed(recording(10))) as url:
        place = (urlsplit(url).hostname, urlsplit(url).port)
        with socket.create_connection(place) as one, suppress(ConnectionError):
            one.settimeout(10.0)
            one.sendall(f"GET /state?{urlsplit(url).query} HTTP/1.1\r\n".encode())
            for line in range(lines):
                one.sendall(f"x{line}: ".encode() + b"x" * (200_000 // lines) + b"\r\n")
            one.sendall(b"\r\n")
            answer = one.recv(100)
            assert b" 200 " not in answer
        assert state_of(url)["cases"]


def test_an_answer_has_a_budget_however_many_signals_are_asked_for():
    names = tuple(f"c.x{i}" for i in range(200))
    expected = recording(20_000, names)
    given = {"begin_ns": 0, "end_ns": 10**12, "at_ns": 0, "most": 20_000, "case": 0}
    with served(replayed(expected)) as url:
        status, headers, content = asked(
            url, "samples", columns=",".join(map(str, range(200))), **given
        )
        count = json.loads(headers["X-About"])["count"]
        assert status == 200
        assert len(content) <= 8 * (live_server._MOST_VALUES + 2 * 20_000)
        values = np.frombuffer(content, "<f8")[count : count * 201].reshape(200, count)
        np.testing.assert_array_equal(values.max(axis=1), expected.values.max(axis=0))
        np.testing.assert_array_equal(values.min(axis=1), expected.values.min(axis=0))
        twice = asked(url, "samples", columns=",".join(["0"] * 5_000), **given)
        assert (twice[0], b"expected each signal once" in twice[2]) == (400, True)


def test_what_nobody_foresaw_is_answered_too(monkeypatch):
    def broken(*_):
        raise MemoryError("no room")

    monkeypatch.setattr(Shown, "state", broken)
    with served(replayed(recording(10))) as url:
        status, _, content = asked(url, "state")
        assert (status, content) == (500, b"MemoryError: no room\n")


def test_a_recording_without_rows_is_refused(wording):
    with wording.raises(DescriptionError):
        replayed(recording(0))


def test_names_are_text_and_what_is_no_number_is_nothing():
    rows = (("peak", float("nan"), HOSTILE),)
    table = Section("x", HOSTILE, ("a", "b", "c"), rows, note=HOSTILE, remarks=(HOSTILE,))
    shown = replayed(recording(10, (HOSTILE, "b.x", "c.x")))
    shown.title = HOSTILE
    shown.cases[0].say([table], [HOSTILE])
    with served(shown) as url:
        text = asked(url, "")[2].decode()
        assert text.count("<script") == 2  # uPlot, and our own
        assert HOSTILE not in text
        content = json.loads(asked(url, "case", case=0)[2])
    assert content["signals"]["names"][0] == HOSTILE
    assert content["sections"][0]["rows"] == [["peak", None, HOSTILE]]


def test_a_million_samples_are_told_in_a_moment():
    names = tuple(f"c.x{i}" for i in range(4))
    result = recording(1_000_000, names)
    result.values[777_777, 2] = 40.0
    with served(replayed(result)) as url:
        times, signals, _, _ = samples_of(url, [2], 0, 10**15, most=2000)
    assert len(times) < 2010
    assert signals.max() == 40.0
    assert abs(times[signals[0].argmax()] - 777.777) < 1.1
