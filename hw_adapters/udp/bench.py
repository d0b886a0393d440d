"""The bench of ``udp``: the datagrams of the emulated rig, declared as settings declare them."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from functools import partial
from typing import Any

from hw_adapters.udp.adapter import UdpSettings
from hw_adapters.udp.codec import Codec, Message
from hw_adapters.udp.layout import Layout
from orchestrator.rig.devices.conformance import (
    Bench,
    Golden,
    Logged,
    Refused,
    RelayPlaces,
    Wiring,
    free_udp_port,
)

#: What the emulated rig sends and takes; the example of docs/reference/devices/udp.md.
MEASUREMENTS: dict[str, Any] = {
    "fields": [
        {"role": "constant", "type": "u32", "value": 0x53444D31},
        {"role": "sequence", "type": "u32"},
        {"role": "time", "type": "u64", "scale": 1e-9},
        {"role": "status", "type": "u32"},
        {"name": "x", "type": "f64", "unit": "m", "description": "Position"},
        {"name": "v", "type": "f64", "unit": "m/s", "description": "Velocity"},
        {"role": "taken", "type": "u32"},
    ]
}
COMMANDS: dict[str, Any] = {
    "fields": [
        {"role": "constant", "type": "u32", "value": 0x53444331},
        {"role": "sequence", "type": "u32"},
        {"role": "time", "type": "u64", "scale": 1e-9},
        {"name": "x_set", "type": "f64", "unit": "m", "minimum": -0.1, "maximum": 0.1},
    ]
}
_MEASURED = Codec(Layout.model_validate(MEASUREMENTS))
_COMMANDED = Codec(Layout.model_validate(COMMANDS))
#: Two 16-bit words in big endian, counts of 0.01, as motion bases have them; no check sum.
_WORDS = Codec(
    Layout.model_validate(
        {
            "byte_order": "big",
            "crc": "none",
            "fields": [
                {"role": "constant", "type": "u16", "value": 0x00FF},
                {"name": "heave", "type": "i16", "scale": 0.01, "offset": -1.0},
                {"role": "padding", "type": "u8"},
            ],
        }
    )
)
#: Three counts behind a text, and bytes that are not read.
_TEXT = Codec(
    Layout.model_validate(
        {
            "crc": "none",
            "fields": [
                {"role": "text", "type": "text", "count": 4, "text": "POS"},
                {"name": "legs", "type": "u16", "count": 3, "scale": 0.5},
                {"role": "padding", "type": "u8", "count": 2},
            ],
        }
    )
)
_LEGS = b"POS\0\x02\0\x04\0\x06\0\0\0"
# The CRC-32 values were computed with POSIX `gzip` (the trailer of a .gz file is that of zlib).
_SAMPLE = bytes.fromhex(
    "314d4453 07000000 00ca9a3b00000000 00000000 000000000000f83f 00000000000000c0 05000000"
)
_SAMPLE_CRC = bytes.fromhex("18e0d3aa")
_COMMAND = bytes.fromhex("31434453 03000000 0094357700000000 000000000000d03f 0e9c1e72")
_REFUSED = {
    "nothing": b"",
    "cut short": _SAMPLE,
    "too long": _SAMPLE + _SAMPLE_CRC + b"\0",
    "a flipped bit": bytes([*_SAMPLE[:20], _SAMPLE[20] ^ 1, *_SAMPLE[21:]]) + _SAMPLE_CRC,
    "a wrong check sum": _SAMPLE + _SAMPLE_CRC[::-1],
}


def _wiring() -> Wiring:
    here, rig = free_udp_port(), free_udp_port()
    settings = {
        "port": here,
        "device_port": rig,
        "rate": 500.0,
        "measurements": MEASUREMENTS,
        "commands": COMMANDS,
    }
    return Wiring(("--peer", f"127.0.0.1:{here}", "--port", str(rig), "--rate", "500"), settings)


def _relayed() -> Wiring:
    here, rig, front, back = (free_udp_port() for _ in range(4))
    moved = {"minimum": -0.1, "maximum": 0.1, "speed": 0.25, "deceleration": 2.0}
    *fixed, command = COMMANDS["fields"]
    settings = {
        "port": here,
        "device_port": front,
        "rate": 250.0,
        "measurements": MEASUREMENTS,
        "commands": {"fields": [*fixed, command | moved]},
    }
    arguments = ("--peer", f"127.0.0.1:{back}", "--port", str(rig), "--rate", "250")
    return Wiring(
        arguments, settings, RelayPlaces("udp", front, rig, here, back, ("port", "device_port"))
    )


def _forged(sample: bytes, ahead: int) -> bytes:
    """Make a forged sample of 0.09 m; its number and time lie ``ahead`` samples of 4 ms ahead."""
    body = bytearray(sample[:-4])
    number, now = struct.unpack_from("<LQ", body, 4)
    struct.pack_into("<LQ", body, 4, (number + ahead) % 2**32, now + ahead * 4_000_000)
    struct.pack_into("<d", body, 20, 0.09)
    return bytes(body) + zlib.crc32(body).to_bytes(4, "little")


def _truth(settings: UdpSettings) -> Mapping[str, Logged]:
    columns = ("position", "velocity")
    names = [signal.name for signal in settings.measurements.signals]
    return {n: Logged("sample", column) for n, column in zip(names, columns, strict=False)}


def _logged_commands(settings: UdpSettings) -> Mapping[str, Logged]:
    signals = settings.commands.signals if settings.commands else ()
    return {signal.name: Logged("command", "wanted") for signal in signals[:1]}


BENCH = Bench(
    emulator="hw_adapters.udp.emulator",
    wiring=_wiring,
    golden=(
        Golden(
            "sample",
            partial(_MEASURED.decode, _SAMPLE + _SAMPLE_CRC),
            Message((1.5, -2.0), sequence=7, time_s=1.0, status=0, taken=5),
        ),
        Golden("command", partial(_COMMANDED.encode, (0.25,), 3, 2.0), _COMMAND),
        Golden("big endian", partial(_WORDS.decode, b"\x00\xff\xff\x38\x00"), Message((-3.0,))),
        Golden("text and count", partial(_TEXT.decode, _LEGS), Message((1.0, 2.0, 3.0))),
        Golden("text and count, written", partial(_TEXT.encode, (1.0, 2.0, 3.0)), _LEGS),
        Golden("words", partial(_WORDS.encode, (-3.0,)), b"\x00\xff\xff\x38\x00"),
    ),
    refused=(
        *(Refused(name, partial(_MEASURED.decode, each)) for name, each in _REFUSED.items()),
        Refused("another text", partial(_TEXT.decode, b"NEG" + _LEGS[3:])),
        Refused("another constant", partial(_WORDS.decode, b"\x00\xfe\xff\x38\x00")),
        Refused("beyond its type", partial(_WORDS.encode, (1000.0,))),
        Refused("not finite", partial(_COMMANDED.encode, (float("nan"),))),
        Refused("a value missing", partial(_COMMANDED.encode, ())),
        Refused("a value too many", partial(_COMMANDED.encode, (1.0, 2.0))),
    ),
    wraps=True,
    relayed=_relayed,
    forged=_forged,
    counts_on=True,
    truth=_truth,
    logged_commands=_logged_commands,
)
