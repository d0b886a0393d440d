"""The bench of ``ati_net_ft``: bytes of RDT, a calibration page, and the emulated sensor."""

from __future__ import annotations

import struct
from functools import partial

from hw_adapters.ati_net_ft.calibration import Calibration, decode_calibration
from hw_adapters.ati_net_ft.codec import Command, Record, Request, decode_records, encode_request
from orchestrator.rig.devices.conformance import (
    Bench,
    Golden,
    Logged,
    Refused,
    RelayPlaces,
    Wiring,
    free_tcp_port,
    free_udp_port,
)

_RECORD = bytes.fromhex(
    "00000001 000003e8 80020000 000f4240 fff0bdc0 00000000 000001f4 ffffffff 7fffffff"
)
_READ = Record(1, 1000, 0x80020000, (1_000_000, -1_000_000, 0, 500, -1, 2**31 - 1))
_SECOND = bytes.fromhex("00000002 000003e9 00000000") + bytes(24)
_PAGE = (
    b'<?xml version="1.0"?><netft><cfgcpf>1000000</cfgcpf><cfgcpt>2000</cfgcpt>'
    b"<scfgfu>lbf</scfgfu><scfgtu>lbf-in</scfgtu><comrdte>Enabled</comrdte>"
    b"<comrdtrate>7000</comrdtrate></netft>"
)
_CALIBRATION = Calibration(1e6, 2000.0, "lbf", "lbf-in", 7000.0)
_PAGES = {
    "cut short": _PAGE[:-10],
    "no counts": _PAGE.replace(b"<cfgcpf>1000000</cfgcpf>", b""),
    "counts of 0": _PAGE.replace(b"1000000", b"0"),
    "a unit that is none": _PAGE.replace(b">lbf<", b">stone<"),
    "RDT off": _PAGE.replace(b"Enabled", b"Disabled"),
    "an entity": b'<!DOCTYPE netft [<!ENTITY a "1">]>' + _PAGE[21:],
}
_DATAGRAMS = {"nothing": b"", "a byte less": _RECORD[:-1], "a byte more": _RECORD + b"\0"}


def _wiring() -> Wiring:
    port, http = free_udp_port(), free_tcp_port()
    return Wiring(
        ("--port", str(port), "--http-port", str(http), "--rate", "500", "--noise", "0.01"),
        {
            "device_host": "127.0.0.1",
            "device_port": port,
            "http_port": http,
            "rate": 500.0,
            "force_limit": 200.0,
            "torque_limit": 20.0,
        },
    )


def _relayed() -> Wiring:
    wiring, front = _wiring(), free_udp_port()
    device = wiring.settings["device_port"]
    arguments = (*wiring.arguments, "--rate", "250")
    settings = {**wiring.settings, "device_port": front, "rate": 250.0}
    endpoints = RelayPlaces("udp", front, device, settings=("device_port", "http_port"))
    return Wiring(arguments, settings, endpoints)


def _forged(record: bytes, ahead: int) -> bytes:
    """Make a record of 100 N along x, so many records of 4 ms ahead."""
    if len(record) < 36:
        return record
    number, clock, status = struct.unpack_from("!3L", record)
    head = struct.pack("!3L", (number + ahead) % 2**32, (clock + 28 * ahead) % 2**32, status)
    return head + struct.pack("!l", 100_000_000) + record[16:]


BENCH = Bench(
    emulator="hw_adapters.ati_net_ft.emulator",
    wiring=_wiring,
    golden=(
        Golden(
            "stream", partial(encode_request, Request(Command.STREAM)), b"\x12\x34\0\x02" + bytes(4)
        ),
        Golden("stop", partial(encode_request, Request(Command.STOP)), b"\x12\x34" + bytes(6)),
        Golden(
            "tare", partial(encode_request, Request(Command.TARE)), b"\x12\x34\0\x42" + bytes(4)
        ),
        Golden(
            "ten records",
            partial(encode_request, Request(Command.STREAM_BUFFERED, 10)),
            b"\x12\x34\0\x03\0\0\0\x0a",
        ),
        Golden("record", partial(decode_records, _RECORD), (_READ,)),
        Golden(
            "two records",
            partial(decode_records, _RECORD + _SECOND),
            (_READ, Record(2, 1001, 0, (0,) * 6)),
        ),
        Golden("calibration", partial(decode_calibration, _PAGE), _CALIBRATION),
    ),
    refused=(
        *(Refused(name, partial(decode_records, each)) for name, each in _DATAGRAMS.items()),
        *(Refused(name, partial(decode_calibration, page)) for name, page in _PAGES.items()),
    ),
    without={"nan": "RDT sends whole counts, which are always numbers"},
    truth=lambda _: dict.fromkeys(("fx", "fy", "fz"), Logged("record", "force")),
    wraps=True,
    relayed=_relayed,
    forged=_forged,
    resolution=6e-7,
)
