"""The bench of ``shm``: records byte by byte, and the emulated program."""

from __future__ import annotations

import secrets
import struct
import zlib
from collections.abc import Mapping
from functools import partial

from hw_adapters.shm.adapter import ShmSettings
from hw_adapters.shm.codec import Record, check_head, decode, encode
from orchestrator.rig.devices.conformance import Bench, Golden, Logged, Refused, RelayPlaces, Wiring

_HEAD = b"SDSHM1\0\0" + bytes.fromhex("02000000 01000000") + bytes(16)
_FIXED = bytes.fromhex("0700000000000000 00ca9a3b00000000 00000000")
_VALUES = bytes.fromhex("000000000000f83f 00000000000000c0")
_CRC = bytes.fromhex("ee325535")  # by gzip, of the 36 bytes
_NAN = bytes.fromhex("000000000000f87f") + _VALUES[8:]
_NAN_CRC = bytes.fromhex("e931c7eb")  # the same
_WHOLE, _WRITING = b"\x02" + bytes(7), b"\x03" + bytes(7)
_READ = Record((1.5, -2.0), sequence=7, time_ns=1_000_000_000)
_NEWEST = "shared memory holds the newest sample only"


def _wiring() -> Wiring:
    name = f"softdock-bench-{secrets.token_hex(6)}"
    settings = {
        "name": name,
        "rate": 500.0,
        "measurements": [{"name": "x", "unit": "m"}, {"name": "v", "unit": "m/s"}],
        "commands": [{"name": "x_set", "unit": "m", "minimum": -0.1, "maximum": 0.1}],
    }
    return Wiring(("--name", name, "--rate", "500"), settings)


def _relayed() -> Wiring:
    names = [f"softdock-bench-{secrets.token_hex(6)}" for _ in range(2)]
    settings = {
        **_wiring().settings,
        "name": names[0],
        "rate": 250.0,
        "measurements": [
            {"name": "x", "unit": "m", "follows": "x_set"},
            {"name": "v", "unit": "m/s"},
        ],
        "commands": [
            {
                "name": "x_set",
                "unit": "m",
                "minimum": -0.1,
                "maximum": 0.1,
                "speed": 0.25,
                "deceleration": 2.0,
            }
        ],
    }
    endpoints = RelayPlaces("memory", names[0], names[1], settings=("name",))
    return Wiring(("--name", names[1], "--rate", "250"), settings, endpoints)


def _forged(record: bytes, ahead: int) -> bytes:
    """Make a record of 0.09 m whose number and time are so many samples of 4 ms ahead."""
    number, now, status = struct.unpack_from("<QQI", record)
    fixed = struct.pack("<QQI", number + ahead, now + ahead * 4_000_000, status)
    values = struct.pack("<d", 0.09) + record[32:]
    return fixed + zlib.crc32(values, zlib.crc32(fixed)).to_bytes(4, "little") + values


def _truth(settings: ShmSettings) -> Mapping[str, Logged]:
    columns = ("position", "velocity")
    names = [signal.name for signal in settings.measurements]
    return {n: Logged("sample", column) for n, column in zip(names, columns, strict=False)}


def _logged_commands(settings: ShmSettings) -> Mapping[str, Logged]:
    names = [signal.name for signal in settings.commands]
    return {name: Logged("command", "wanted") for name in names[:1]}


BENCH = Bench(
    emulator="hw_adapters.shm.emulator",
    wiring=_wiring,
    golden=(
        Golden("record", partial(decode, _WHOLE + _FIXED + _CRC + _VALUES), _READ),
        Golden("what is written", partial(encode, _READ), _FIXED + _CRC + _VALUES),
        Golden("being written", partial(decode, _WRITING + _FIXED + _CRC + _VALUES), None),
        Golden("never written", partial(decode, bytes(48)), None),
        Golden("head", partial(check_head, _HEAD + bytes(88), 2, 1), None),
    ),
    refused=(
        Refused("torn", partial(decode, _WHOLE + _FIXED + _CRC + _VALUES[::-1])),
        Refused("cut short", partial(decode, _WHOLE + _FIXED)),
        Refused("not finite", partial(decode, _WHOLE + _FIXED + _NAN_CRC + _NAN)),
        Refused("not finite, written", partial(encode, Record((float("inf"),)))),
        Refused("another mark", partial(check_head, bytes(120), 2, 1)),
        Refused("other numbers of values", partial(check_head, _HEAD + bytes(88), 1, 2)),
        Refused("a block cut short", partial(check_head, _HEAD + bytes(87), 2, 1)),
        Refused("no head", partial(check_head, b"SDSHM1", 2, 1)),
    ),
    without={"duplicate": _NEWEST, "reorder": _NEWEST},
    newest_only=True,
    relayed=_relayed,
    forged=_forged,
    counts_on=True,
    truth=_truth,
    logged_commands=_logged_commands,
)
