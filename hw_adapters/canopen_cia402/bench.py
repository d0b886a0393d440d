"""The benches of ``canopen_cia402`` and ``motor_bench``: frames byte by byte, emulated drives."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from hw_adapters.canopen_cia402 import slcan
from hw_adapters.canopen_cia402.codec import (
    SYNC,
    CanFrame,
    Emergency,
    Heartbeat,
    SdoAnnouncement,
    SdoAnswer,
    SdoSegment,
    decode,
    nmt,
    read_object,
    write_object,
)
from hw_adapters.canopen_cia402.motor_bench import MotorBenchSettings
from hw_adapters.canopen_cia402.pdo import pdo_maps
from hw_adapters.canopen_cia402.settings import CanopenSettings
from orchestrator.rig.devices.conformance import Bench, Golden, Logged, Refused, RelayPlaces, Wiring

_HEX = bytes.fromhex
_COMMAND = pdo_maps(1, [["controlword", "target_position"]], commanded=True)[0]
_MEASURED = pdo_maps(2, [["statusword", "position", "torque"]], commanded=False)[0]
_FOREIGN_FRAMES = {
    "a heartbeat of two bytes": CanFrame(0x701, _HEX("0505")),
    "a heartbeat of no state": CanFrame(0x701, _HEX("06")),
    "an emergency cut short": CanFrame(0x081, _HEX("1186")),
    "an SDO cut short": CanFrame(0x581, _HEX("4360640000")),
    "an SDO in blocks": CanFrame(0x581, _HEX("c208100010000000")),
    "an abort without a reason": CanFrame(0x581, _HEX("8060600000000000")),
}
_FOREIGN_LINES = {
    "a time that was not asked for": b"t70110512AB",
    "cut short": b"t1818370400",
    "an odd digit": b"t181137A",
    "nine bytes": b"t1819370400000000000000",
    "an identifier of more bits": b"t800137",
    "no digit": b"t18113_",
    "a blank for a digit": b"t1811 7",
    "a refusal": b"\a",
    "text": b"hello",
}


_DRIVE = {
    "name": "motor",
    "node": 1,
    "mode": "csv",
    "position_scale": 6.283185307179586 / 65536,
    "torque_scale": 1e-3,
    "velocity_limit": 50.0,
    "torque_limit": 1.0,
    "quick_stop_deceleration": 500.0,
}


def _wiring() -> Wiring:
    path = Path(tempfile.gettempdir()) / f"softdock-can-{secrets.token_hex(6)}"
    settings = {
        "channel": str(path),
        "cycle_ms": 5,
        "pace": "answers",  # a busy machine is not what is tried
        "late_ms": 60,
        "drives": [_DRIVE],
        "heartbeat_timeout_ms": 400,
        "on_fault": "hold",
        "fault_reset": True,
    }
    options = ("--sync-tolerance", "1000")
    return Wiring(("--link", str(path), *options), settings)


def _relayed() -> Wiring:
    return _behind_relay(_wiring())


def _behind_relay(wiring: Wiring) -> Wiring:
    path = str(wiring.settings["channel"])
    timed = {"pace": "clock", "on_fault": "stop"}
    settings = {**wiring.settings, **timed, "channel": f"{path}-relay"}
    return Wiring(
        wiring.arguments,
        settings,
        RelayPlaces("serial", f"{path}-relay", path, settings=("channel",)),
    )


def _motor_bench_wiring() -> Wiring:
    """Two motors with the figures of the Motor Substitution Test, Table 1."""
    wiring = _wiring()
    motor = _DRIVE | {"mode": "cst", "torque_scale": 2e-4}
    settings: dict[str, Any] = {
        **wiring.settings,
        "late_ms": 30,  # of three TPDOs more are lost than of two
        "drives": [
            motor | {"name": "drive", "torque_limit": 0.6},
            motor
            | {
                "name": "load",
                "node": 2,
                "torque_limit": 0.144,
                "measurements": [["statusword", "velocity", "torque"]],
            },
        ],
        "resistance": 2.05,
        "torque_constant": 0.061,
        "voltage_limit": 20.0,
    }
    shaft = ("--inertia", "6.38e-5", "--coulomb", "0.0205", "--viscous", "2.58e-5")
    motors = ("--nodes", "1,2", "--one-shaft", "--rated-torque", "0.2", "--tachometer", "2")
    return Wiring((*wiring.arguments, *motors, *shaft), settings)


def _of_node(column: str, node: int) -> Logged:
    return Logged("cycle", column, row_key=("node", str(node)))


def _truth(settings: CanopenSettings) -> Mapping[str, Logged]:
    """The emulated shafts turn: of linear axes nothing is known."""
    turning = [drive for drive in settings.drives if drive.axis == "rotary"]
    return {
        f"{drive.name}_{column}": _of_node(column, drive.node)
        for drive in turning
        for column in ("position", "velocity")
    }


def _logged_commands(settings: CanopenSettings) -> Mapping[str, Logged]:
    quantities = {"csp": "position", "csv": "velocity", "cst": "torque"}
    return {
        f"{drive.name}_{quantities[drive.mode]}_set": _of_node("wanted", drive.node)
        for drive in settings.drives
        if drive.axis == "rotary"
    }


def _shaft(settings: MotorBenchSettings) -> Mapping[str, Logged]:
    """Voltages are nothing that comes over the wire, and the load has the sign of its mounting."""
    node = settings.drive.node
    return {"angle": _of_node("position", node), "shaft_rate": _of_node("velocity", node)}


BENCH = Bench(
    emulator="hw_adapters.canopen_cia402.emulator",
    wiring=_wiring,
    golden=(
        Golden("NMT start of node 5", partial(nmt, 1, 5), CanFrame(0, _HEX("0105"))),
        Golden("SYNC", partial(slcan.encode_line, SYNC), b"t0800\r"),
        Golden(
            "read 0x1000 of node 2",
            partial(read_object, 2, 0x1000, 0),
            CanFrame(0x602, _HEX("4000100000000000")),
        ),
        Golden(
            "write 0x6060 of node 2",
            partial(write_object, 2, 0x6060, 0, b"\x08"),
            CanFrame(0x602, _HEX("2F60600008000000")),
        ),
        Golden(
            "what was read",
            partial(decode, CanFrame(0x582, _HEX("4300100092010200"))),
            SdoAnswer(2, 0x1000, 0, _HEX("92010200")),
        ),
        Golden(
            "what was read, of no size",
            partial(decode, CanFrame(0x582, _HEX("42416000370200AA"))),
            SdoAnswer(2, 0x6041, 0, _HEX("370200AA"), has_size=False),
        ),
        Golden(
            "no such object",
            partial(decode, CanFrame(0x582, _HEX("8000200000000206"))),
            SdoAnswer(2, 0x2000, 0, abort=0x06020000),
        ),
        Golden(
            "16 bytes that follow in segments",
            partial(decode, CanFrame(0x582, _HEX("4108100010000000"))),
            SdoAnnouncement(2, 0x1008, 0, 16),
        ),
        Golden(
            "the last segment, of 2 bytes",
            partial(decode, CanFrame(0x582, _HEX("1b68690000000000"))),
            SdoSegment(2, 1, b"hi", is_last=True),
        ),
        Golden("heartbeat", partial(decode, CanFrame(0x701, b"\x05")), Heartbeat(1, 5)),
        Golden(
            "following error",
            partial(decode, CanFrame(0x081, _HEX("1186210102030405"))),
            Emergency(1, 0x8611, 0x21, _HEX("0102030405")),
        ),
        Golden(
            "RPDO1",
            partial(_COMMAND.encode, {"controlword": 0x0F, "target_position": -2}),
            CanFrame(0x201, _HEX("0F00FEFFFFFF")),
        ),
        Golden(
            "TPDO1",
            partial(_MEASURED.decode, _HEX("371200000100F6FF")),
            {"statusword": 0x1237, "position": 65536, "torque": -10},
        ),
        Golden("a line", partial(slcan.decode_line, b"t70117f"), CanFrame(0x701, b"\x7f")),
        Golden("an extended frame", partial(slcan.decode_line, b"T00000001101"), None),
        Golden("1 Mbit/s", partial(slcan.set_bitrate, 1_000_000), b"S8\r"),
    ),
    refused=(
        *(Refused(name, partial(decode, frame)) for name, frame in _FOREIGN_FRAMES.items()),
        *(Refused(name, partial(slcan.decode_line, b)) for name, b in _FOREIGN_LINES.items()),
        Refused("a PDO cut short", partial(_MEASURED.decode, _HEX("3712000001"))),
        Refused(
            "a target that does not fit",
            partial(_COMMAND.encode, {"controlword": 0, "target_position": 1 << 31}),
        ),
    ),
    without={
        "reorder": "a CAN line carries one frame after the other, and PDOs have no number",
        "nan": "objects of a drive are whole numbers",
        "clock-jump": "PDOs have no time; their count is that of this machine's SYNC",
    },
    relayed=_relayed,
    resolution=5e-5,
    truth=_truth,
    logged_commands=_logged_commands,
)

MOTOR_BENCH = replace(
    BENCH,
    wiring=_motor_bench_wiring,
    relayed=lambda: _behind_relay(_motor_bench_wiring()),
    truth=_shaft,
    logged_commands=lambda _: {},
    golden=(
        *BENCH.golden,
        Golden(
            "a voltage beyond what its drive can do",
            lambda: MotorBenchSettings(**_motor_bench_wiring().settings).torque(1e3, 0.0),
            0.6,
        ),
    ),
)
