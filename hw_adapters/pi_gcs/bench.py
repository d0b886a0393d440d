"""The bench of ``pi_gcs``: text byte by byte, and the emulated hexapod."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial

from hw_adapters.pi_gcs import codec
from hw_adapters.pi_gcs.codec import AXES, ReplySplitter
from orchestrator.rig.devices.conformance import (
    Bench,
    Golden,
    Logged,
    Refused,
    RelayPlaces,
    Wiring,
    free_tcp_port,
)

_POSE = b"X=1.5000000 \nY=-0.2500000 \nZ=0 \nU=1e-3 \nV=0.0 \nW=-12.0\n"
_LINES = ("X=1.5000000", "Y=-0.2500000", "Z=0", "U=1e-3", "V=0.0", "W=-12.0")
_READ = {"X": 1.5, "Y": -0.25, "Z": 0.0, "U": 1e-3, "V": 0.0, "W": -12.0}
_NO_NUMBER = "TCP neither repeats nor reorders, and replies have no number"
_FOREIGN = {
    "an axis too few": _LINES[:-1],
    "an axis twice": (*_LINES, "X=1"),
    "another axis": (*_LINES[:-1], "A=1"),
    "a comma": (*_LINES[:-1], "W=1,5"),
    "not finite": (*_LINES[:-1], "W=nan"),
    "too large": (*_LINES[:-1], "W=1e999"),
    "an underscore": (*_LINES[:-1], "W=1_0"),
    "no number": (*_LINES[:-1], "W="),
    "an error code": ("0",),
    "nothing": (),
}


def _wiring() -> Wiring:
    port = free_tcp_port()
    settings = {
        "device_host": "127.0.0.1",
        "device_port": port,
        "rate": 100.0,
        "answer_timeout": 0.1,
        "on_fault": "hold",
    }
    return Wiring(("--port", str(port)), settings)


def _relayed() -> Wiring:
    wiring, front = _wiring(), free_tcp_port()
    device = wiring.settings["device_port"]
    settings = {**wiring.settings, "device_port": front, "on_fault": "stop"}
    endpoints = RelayPlaces("tcp", front, device, settings=("device_host", "device_port"))
    return Wiring(wiring.arguments, settings, endpoints)


def _columns(prefix: str, column: str) -> Mapping[str, Logged]:
    """Name columns of the log, mm and degrees."""
    scales = (1e-3,) * 3 + (math.pi / 180.0,) * 3
    return {
        f"{prefix}{axis.lower()}": Logged("line", f"{column}{axis}", scale)
        for axis, scale in zip(AXES, scales, strict=True)
    }


BENCH = Bench(
    emulator="hw_adapters.pi_gcs.emulator",
    wiring=_wiring,
    golden=(
        Golden("questions", partial(codec.ask, "POS?", "ERR?"), b"POS?\nERR?\n"),
        Golden("where", partial(codec.question_about, "POS?", AXES), "POS? X Y Z U V W"),
        Golden(
            "move",
            partial(codec.command, "MOV", {"X": 1.5, "Y": -0.25, "W": -12.0}),
            b"MOV X 1.5000000 Y -0.2500000 W -12.0000000\n",
        ),
        Golden(
            "lines of a reply", partial(ReplySplitter().split, _POSE + b"0\n"), [_LINES, ("0",)]
        ),
        Golden("servo", partial(codec.switch_on, ("X", "W")), b"SVO X 1 W 1\n"),
        Golden("pose", partial(codec.axis_values, _LINES, AXES), _READ),
        Golden("no error", partial(codec.error_code, ("0",)), 0),
        Golden("an error", partial(codec.error_code, ("-1024",)), -1024),
    ),
    refused=(
        *(Refused(n, partial(codec.axis_values, lines, AXES)) for n, lines in _FOREIGN.items()),
        Refused("a code of letters", partial(codec.error_code, ("7f",))),
        Refused("a code of two lines", partial(codec.error_code, ("7", "8"))),
        Refused("no text", partial(ReplySplitter().split, b"X=\xff\n")),
        Refused("no end", partial(ReplySplitter().split, b"X" * 5000)),
        Refused("not finite, written", partial(codec.command, "MOV", {"X": float("inf")})),
    ),
    newest_only=True,
    relayed=_relayed,
    resolution=1e-10,
    without={
        "duplicate": _NO_NUMBER,
        "reorder": _NO_NUMBER,
        "clock-jump": "replies have no time; their count is that of this machine's questions",
    },
    truth=lambda _: _columns("", ""),
    logged_commands=lambda _: _columns("d", "to_"),
)
