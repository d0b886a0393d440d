"""The example of the page on adapters does what the page says."""

import re
import socket
from pathlib import Path

from orchestrator.core.diagnostics import WireFormatError
from orchestrator.rig.devices import read_settings
from orchestrator.rig.devices.conformance import CHECKS, free_udp_port

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "adapter.md"


def test_the_example_reads_refuses_and_receives():
    names = {"__name__": "thermometer"}
    for text in re.findall(r"```py(?:thon)?\n(.*?)```", PAGE.read_text(), re.DOTALL):
        exec(text, names)  # noqa: S102
    bench, port = names["BENCH"], free_udp_port()
    assert [golden.actual() for golden in bench.golden] == [g.expected for g in bench.golden]
    for refused in bench.refused:
        try:
            raise AssertionError(refused.read())
        except WireFormatError:
            pass
    faults = {fault for fault, _ in CHECKS.values()}
    assert set(bench.without) <= faults
    kind = names["Thermometer"]
    device = kind(read_settings(kind, {"port": port}, "device 'thermometer'"))
    device.open()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
        peer.sendto(b"T\x00\x04\x79\x1e", ("127.0.0.1", port))
    assert device.receive(3.0).values == (293.15,)
    assert device.receive(0.0) is None
    device.close()


def test_the_page_lists_every_check():
    table = PAGE.read_text().split("| check |")[1]
    assert {name for name in CHECKS if f"`{name}`" not in table} == set()
