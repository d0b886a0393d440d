"""The bench of ``kuka_rsi``: frames as controllers send them, and the emulated robot."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import partial

from hw_adapters.kuka_rsi.adapter import KukaRsiSettings
from hw_adapters.kuka_rsi.codec import Correction, RobotFrame, decode_frame, encode_correction
from orchestrator.rig.devices.conformance import (
    Bench,
    Golden,
    Logged,
    Refused,
    RelayPlaces,
    Wiring,
    free_udp_port,
)

_FRAME = (
    b'<Rob Type="KUKA"><RIst X="445.0" Y="0.0" Z="790.5" A="-180.0" B="0.25" C="-180.0"/>'
    b'<RSol X="445.0" Y="0.0" Z="790.5" A="-180.0" B="0.0" C="-180.0"/>'
    b'<AIPos A1="0.0" A2="-90.0" A3="90.0" A4="0.0" A5="90.0" A6="0.5"/>'
    b'<ASPos A1="0.0" A2="-90.0" A3="90.0" A4="0.0" A5="90.0" A6="0.0"/>'
    b'<Delay D="0"/><IPOC>4208163634</IPOC></Rob>'
)
_READ = RobotFrame(
    ipoc=4208163634,
    pose=(445.0, 0.0, 790.5, -180.0, 0.25, -180.0),
    setpoint=(445.0, 0.0, 790.5, -180.0, 0.0, -180.0),
    joints=(0.0, -90.0, 90.0, 0.0, 90.0, 0.5),
    joint_setpoints=(0.0, -90.0, 90.0, 0.0, 90.0, 0.0),
    late=0,
)
_CARTESIAN = (
    b'<Sen Type="ImFree"><RKorr X="1.500000" Y="-0.000250" Z="0.000000" A="0.100000"'
    b' B="0.000000" C="0.000000"/><IPOC>4208163634</IPOC></Sen>'
)
_JOINT = (
    b'<Sen Type="Rig"><AK A1="0.000000" A2="0.000000" A3="0.000000" A4="0.000000" A5="0.000000"'
    b' A6="-1.250000"/><IPOC>7</IPOC></Sen>'
)
_BOMB = b'<!DOCTYPE Rob [<!ENTITY a "1"><!ENTITY b "&a;&a;">]><Rob><IPOC>&b;</IPOC></Rob>'
_FOREIGN = {
    "a short empty frame of an old version": b'<Rob Type="KUKA"></Rob>',
    "cut short": _FRAME[:-10],
    "a correction": _CARTESIAN,
    "an entity": _BOMB,
    "an IPOC of letters": _FRAME.replace(b"4208163634", b"42x"),
    "a negative IPOC": _FRAME.replace(b"4208163634", b"-4"),
    "no number": _FRAME.replace(b'X="445.0"', b'X="445,0"'),
    "not finite": _FRAME.replace(b'X="445.0"', b'X="nan"'),
    "a missing axis": _FRAME.replace(b'Z="790.5"', b""),
    "too long": _FRAME + b" " * 4096,
    "no XML": b"\x12\x34\x00\x02\x00\x00\x00\x00",
    "nothing": b"",
}


def _wiring() -> Wiring:
    port = free_udp_port()
    patient = ("--timeout", "1000000")  # a busy machine answers late; that is not what is tried
    return Wiring(("--peer", f"127.0.0.1:{port}", *patient), {"port": port})


def _relayed() -> Wiring:
    port, front, back = (free_udp_port() for _ in range(3))
    arguments = ("--peer", f"127.0.0.1:{back}", "--delay", "4", "--timeout", "1000000")
    echoed = ("--echo", "Corr")
    settings = {"port": port, "axes": ["x"], "device_host": "127.0.0.1", "echo": "Corr"}
    endpoints = RelayPlaces("udp", front, adapter=port, back=back, settings=("port",))
    return Wiring((*arguments, *echoed), settings, endpoints)


def _silent() -> Wiring:
    """The same robot without the correction in force in its frames."""
    wiring = _relayed()
    settings = {key: value for key, value in wiring.settings.items() if key != "echo"}
    return Wiring(wiring.arguments, settings, wiring.relay)


def _relative() -> Wiring:
    wiring = _relayed()
    settings = {**wiring.settings, "mode": "relative"}
    return Wiring((*wiring.arguments, "--relative"), settings, wiring.relay)


def _forged(frame: bytes, ahead: int) -> bytes:
    """Make a frame of a robot at X = 1040 mm, so many cycles of 4 ms ahead."""
    ipoc = re.search(rb"<IPOC>(\d+)</IPOC>", frame)
    if ipoc is None:
        return frame
    moved = re.sub(rb'<RIst X="[^"]*"', b'<RIst X="1040.0000"', frame)
    number = (int(ipoc[1]) + 4 * ahead) % 2**32
    return re.sub(rb"<IPOC>\d+</IPOC>", b"<IPOC>%d</IPOC>" % number, moved)


def _columns(settings: KukaRsiSettings, prefix: str, column: str) -> Mapping[str, Logged]:
    """Name columns of the robot's log, mm and degrees."""
    turns = (math.pi / 180.0,) * 3
    scales = turns * 2 if settings.space == "joint" else (1e-3, 1e-3, 1e-3, *turns)
    return {
        f"{prefix}{name}": Logged("cycle", f"{column}_{i}", scale)
        for i, (name, scale) in enumerate(zip(settings.names, scales, strict=True), 1)
    }


BENCH = Bench(
    emulator="hw_adapters.kuka_rsi.emulator",
    wiring=_wiring,
    golden=(
        Golden("frame", partial(decode_frame, _FRAME), _READ),
        Golden(
            "Cartesian correction",
            partial(encode_correction, Correction(4208163634, (1.5, -0.00025, 0.0, 0.1, 0.0, 0.0))),
            _CARTESIAN,
        ),
        Golden(
            "joint correction",
            partial(
                encode_correction,
                Correction(7, (0.0, 0.0, 0.0, 0.0, 0.0, -1.25), "joint", "Rig"),
            ),
            _JOINT,
        ),
    ),
    refused=tuple(Refused(name, partial(decode_frame, b)) for name, b in _FOREIGN.items()),
    follows=True,
    wraps=True,
    relayed=_relayed,
    variants={"relative": _relative, "without echo": _silent},
    forged=_forged,
    resolution=6e-8,
    counts_on=True,
    truth=lambda settings: _columns(settings, "", "actual"),
    logged_commands=lambda settings: _columns(settings, "d", "asked"),
)
