"""The bench of ``dcp``: PDUs of a trace of a master with the example slave of DCPLib."""

from __future__ import annotations

import struct
from functools import partial
from pathlib import Path

from orchestrator.dcp import pdus
from orchestrator.dcp.identifiers import PduType
from orchestrator.dcp.pdus import decode, encode
from orchestrator.rig.devices.conformance import (
    Bench,
    Golden,
    Logged,
    Refused,
    RelayPlaces,
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
#: Where the port is in a PDU of network information.
_PORT_AT = 7
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


def _relayed() -> Wiring:
    wiring, front = _wiring(), free_udp_port()
    endpoints = RelayPlaces("udp", front, wiring.settings["port"], settings=("port",))
    settings = {**wiring.settings, "port": front, "steps": 4}
    return Wiring(wiring.arguments, settings, endpoints)


def _forged(pdu: bytes, ahead: int) -> bytes:
    """Make a data PDU of 0.09 m whose number is so many samples ahead; others are as they were."""
    if len(pdu) < 13 or pdu[0] != PduType.DAT_INPUT_OUTPUT:
        return pdu
    kind, number, data_id = struct.unpack_from("<BHH", pdu)
    head = struct.pack("<BHH", kind, (number + ahead) % pdus.SEQUENCES, data_id)
    return head + struct.pack("<d", 0.09) + pdu[13:]


def _readdressed(pdu: bytes, back: int, device: int) -> bytes:
    """Let the slave send its outputs to the relay, and take its inputs at its own port."""
    ports = {
        PduType.CFG_TARGET_NETWORK_INFORMATION: back,
        PduType.CFG_SOURCE_NETWORK_INFORMATION: device,
    }
    kind = next((kind for kind in ports if pdu[:1] == bytes([kind])), None)
    if len(pdu) < _PORT_AT + 2 or kind is None:
        return pdu
    port = struct.pack("<H", ports[kind])
    return pdu[:_PORT_AT] + port + pdu[_PORT_AT + 2 :]


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
    relayed=_relayed,
    forged=_forged,
    readdressed=_readdressed,
    truth=lambda _: {"x": Logged("sample", "position"), "v": Logged("sample", "velocity")},
    logged_commands=lambda _: {"x_set": Logged("command", "wanted")},
)
