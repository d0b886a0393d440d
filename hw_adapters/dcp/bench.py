"""The bench of ``dcp``: PDUs of a trace of a master with the example slave of DCPLib."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from orchestrator.dcp import pdus
from orchestrator.dcp.pdus import decode, encode
from orchestrator.rig.devices.conformance import (
    Bench,
    Golden,
    Logged,
    Refused,
    Wiring,
    free_udp_port,
)

DESCRIPTION = Path(__file__).with_name("axis.dcpx")
_UUID = bytes.fromhex("b5279485720d45429f29bee4d9a75ef9")
_REGISTER = bytes.fromhex("0101000100b5279485720d45429f29bee4d9a75ef9010100")
_INPUT = bytes.fromhex("2204000101000000020000000000000009")
_TARGET = bytes.fromhex("250900010200009a1f0100007f")
_NACK = bytes.fromhex("b111000110001320")
_DATA = bytes.fromhex("f001000200524ff3f59e68e1bf")
_HOST = "127.0.0.1"
_REFUSED = {
    "nothing": b"",
    "no PDU of DCP": b"\xff" + _DATA[1:],
    "a header cut short": _DATA[:3],
    "a request cut short": _REGISTER[:-1],
    "a request too long": _REGISTER + b"\0",
    "network information of another length": _TARGET + b"\0",
    "a state that there is not": bytes.fromhex("e00113"),
}


def _wiring() -> Wiring:
    port = free_udp_port()
    settings = {"description": str(DESCRIPTION), "port": port, "response_timeout": 0.5}
    return Wiring(("--port", str(port)), settings)


BENCH = Bench(
    emulator="hw_adapters.dcp.emulator",
    wiring=_wiring,
    golden=(
        Golden("register", partial(encode, pdus.Register(1, 1, 0, _UUID, 1)), _REGISTER),
        Golden("registered", partial(decode, _REGISTER), pdus.Register(1, 1, 0, _UUID, 1, 1, 0)),
        Golden("input", partial(encode, pdus.ConfigureInput(4, 1, 1, 0, 2, 9)), _INPUT),
        Golden(
            "target",
            partial(encode, pdus.TargetNetworkInformation(9, 1, 2, 0, pdus.place_of(_HOST, 8090))),
            _TARGET,
        ),
        Golden("refusal", partial(decode, _NACK), pdus.Nack(0x11, 1, 0x10, 0x2013)),
        Golden("data", partial(decode, _DATA), pdus.Data(1, 2, _DATA[5:])),
    ),
    refused=tuple(Refused(name, partial(decode, each)) for name, each in _REFUSED.items()),
    without={
        "wrong-status": "a slave that is not in order leaves RUNNING and sends no data: it is lost",
        "clock-jump": "data PDUs have no time; their number counts PDUs",
    },
    wraps=True,
    truth=lambda _: {"x": Logged("sample", "position"), "v": Logged("sample", "velocity")},
    asked=lambda _: {"x_set": Logged("command", "wanted")},
)
