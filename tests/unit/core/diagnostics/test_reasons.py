"""Errors of the system that have a text of their own, and no number: nothing says "None"."""

from pathlib import Path

import pytest

from hw_adapters.stream_socket import StreamSocket
from orchestrator.checks.locations import open_ssp_file
from orchestrator.core.simunits.logs import read_recorded


def refuse(*_, **__):
    raise OSError("the cable is out")


@pytest.mark.parametrize(
    ("owner", "name", "act"),
    [
        ("pathlib.Path", "stat", lambda: read_recorded(Path("a.parquet"), "a")),
        ("pathlib.Path", "read_bytes", lambda: open_ssp_file(Path("a.ssd"))),
        ("socket", "create_connection", lambda: StreamSocket("localhost", 1, 1.0)),
    ],
)
def test_the_text_of_an_error_without_a_number_is_told(monkeypatch, owner, name, act):
    monkeypatch.setattr(f"{owner}.{name}", refuse)
    with pytest.raises(Exception, match="the cable is out") as caught:
        act()
    assert "None" not in str(caught.value).replace("[Errno None]", "")
