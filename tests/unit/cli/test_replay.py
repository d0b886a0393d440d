"""``softdock replay``."""

import pytest
from live_pages import recording

from orchestrator.core.recording import write_parquet
from orchestrator.pictures.live.door import listening
from orchestrator.pictures.live.server import Server

SYSTEM = """
[system]
name = "pair"
[component.one]
source = "block:spring_dashpot"
values = { k = 100.0, position_a = 0.0, velocity_a = 0.0, position_b = 0.0, velocity_b = 0.0 }
[experiment]
step = "1 ms"
stop = "1 s"
"""


@pytest.fixture
def shown(monkeypatch):
    """What is served: nobody waits for Ctrl-C."""
    found = []
    monkeypatch.setattr(Server, "serve_forever", lambda self, _: found.append(self.shown))
    return found


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "sway.parquet"
    write_parquet(recording(100), path)
    return path


def test_a_recording_is_shown_with_the_diagram_of_what_was_run(softdock, shown, file):
    target = file.with_name("sway.toml")
    target.write_text(SYSTEM)
    code, _, err = softdock("replay", str(file), "--of", str(target), "--port", "0")
    assert (code, "until Ctrl-C" in err) == (0, True), err
    (case,) = shown[0].cases
    assert (case.name, case.complete_samples().count, shown[0].recorded) == ("sway", 100, True)
    assert "spring_dashpot" in case.facts["diagram"]["svg"]


def test_a_recording_alone_has_its_signals(softdock, shown, file):
    code, _, err = softdock("replay", str(file), "--port", "0")
    assert code == 0, err
    assert shown[0].cases[0].facts["diagram"] is None


def test_what_cannot_be_shown_is_said(softdock, shown, file, tmp_path):
    taken, _ = listening("0")
    with taken:
        port = str(taken.getsockname()[1])
        code, _, err = softdock("replay", str(file), "--port", port)
        assert (code, "in use" in err) == (2, True), err
    code, _, err = softdock("replay", str(tmp_path / "none.parquet"), "--port", "0")
    assert (code, "none.parquet" in err) == (2, True), err
    (tmp_path / "cut.parquet").write_bytes(file.read_bytes()[:-50])
    code, _, err = softdock("replay", str(tmp_path / "cut.parquet"), "--port", "0")
    assert (code, "cut.parquet" in err) == (2, True), err
    assert shown == []
