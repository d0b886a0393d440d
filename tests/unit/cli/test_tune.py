"""``softdock tune`` and ``softdock mark``."""

import pytest
from live_pages import recording, served

from orchestrator.cli import tune
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.pictures.live.shown import Shown, replayed


@pytest.fixture
def run(monkeypatch):
    """What a run is asked, and its address."""
    found = []

    def ask(_self, wish):
        found.append((wish.request, wish.name, wish.text, wish.ramp))
        if wish.name == "a.q":
            raise DescriptionError("component 'a' has no connector 'q'")

    monkeypatch.setattr(Shown, "ask", ask)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # which is not asked
    with served(replayed(recording(10))) as url:
        yield url, found


def test_values_are_set_in_their_order_and_moments_marked(softdock, run):
    url, found = run
    url = url.partition("?")[0]
    port = url.rstrip("/").rpartition(":")[2]
    code, _, err = softdock("tune", port, "a.k=3", "a.y -> b.u=12 ms", "--ramp", "50 ms")
    assert code == 0, err
    assert softdock("tune", url, "a.v=[1, 2]")[0] == 0
    assert softdock("mark", f"127.0.0.1:{port}", "touched = now")[0] == 0
    assert found == [
        ("set", "a.k", "3", 0.05),
        ("set", "a.y -> b.u", "12 ms", 0.05),
        ("set", "a.v", "[1, 2]", None),
        ("mark", "", "touched = now", None),
    ]


def test_what_is_refused_is_said(softdock, run):
    url, _ = run
    code, _, err = softdock("tune", url, "a.k=3")
    assert (code, "every account of this machine can read the arguments" in err) == (2, True)
    url = url.partition("?")[0]
    code, _, err = softdock("tune", url, "a.q=3")
    assert (code, err.strip()) == (2, "error: component 'a' has no connector 'q'")
    code, _, err = softdock("tune", url, "a.k")
    assert (code, "expected NAME=VALUE" in err) == (2, True)
    code, _, err = softdock("tune", url, "a.k=1", "--ramp", "soon")
    assert (code, "--ramp" in err) == (2, True)
    code, _, err = softdock("mark", "1", "x")
    assert (code, "1: no run answers there" in err) == (2, True)


def test_a_run_of_another_account_or_machine_needs_the_token(softdock, run, monkeypatch):
    url, found = run
    url, query = url.split("?")

    def nobody(*_):
        raise FileNotFoundError

    monkeypatch.setattr(tune, "connect_to_name", nobody)
    code, _, err = softdock("mark", url, "x")
    assert (code, "expected the token that the run printed" in err) == (2, True)
    monkeypatch.setenv("SOFTDOCK_TOKEN", query.removeprefix("token="))
    assert softdock("mark", url, "x")[0] == 0
    assert found == [("mark", "", "x", None)]
