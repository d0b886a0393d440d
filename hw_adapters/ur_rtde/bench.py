"""The bench of ``ur_rtde``: packages byte by byte, and the emulated controller."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from hw_adapters.ur_rtde import codec
from hw_adapters.ur_rtde.adapter import UrRtdeSettings
from hw_adapters.ur_rtde.codec import Accepted, Data, Recipe, TextMessage, decode
from orchestrator.rig.devices.conformance import (
    Bench,
    Golden,
    Logged,
    Refused,
    RelayPlaces,
    Wiring,
    free_tcp_port,
)

_HEX = bytes.fromhex
_RECIPE = Recipe("O", 1, ("DOUBLE", "UINT32"))
_CONTENT = _HEX("3FF8000000000000 00000004")
_FOREIGN = {
    "cut short": _HEX("000556"),
    "longer than it says": _HEX("00045601 00"),
    "of no type": _HEX("00047801"),
    "an answer that is neither yes nor no": _HEX("00045602"),
    "a type that is none": b"\0\x0a\x4f\1DOUBLF",
    "data of no recipe": _HEX("000355"),
    "a message cut short": _HEX("00064d 05 6869"),
    "a message of no level": _HEX("00084d 02 6869 00 07"),
    "nothing": b"",
}


def _wiring() -> Wiring:
    port = free_tcp_port()
    # a busy machine commands late; that is not what is tried
    return Wiring(
        ("--port", str(port), "--watchdog", "0", "--rate", "125"),
        {"device_host": "127.0.0.1", "device_port": port, "rate": 125.0},
    )


def _relayed() -> Wiring:
    wiring, front = _wiring(), free_tcp_port()
    device = wiring.settings["device_port"]
    endpoints = RelayPlaces("tcp", front, device, settings=("device_host", "device_port"))
    return Wiring(wiring.arguments, {**wiring.settings, "device_port": front}, endpoints)


#: What the emulated arm moves, and what leads it, in the order of the six registers.
_MOVED = {
    "joint": ("q[{}]",) * 6,
    "cartesian": ("tcp_position[{}]",) * 3 + ("tcp_rotation[{}]",) * 3,
}
_LED = {"joint": ("dq[{}]",) * 6, "cartesian": ("d_position[{}]",) * 3 + ("d_rotation[{}]",) * 3}


def _columns(names: tuple[str, ...], column: str) -> Mapping[str, Logged]:
    return {
        name.format(i % names.count(name)): Logged("cycle", f"{column}_{i}")
        for i, name in enumerate(names)
    }


def _truth(settings: UrRtdeSettings) -> Mapping[str, Logged]:
    return _columns(_MOVED.get(settings.space, ()), "actual")


def _logged_commands(settings: UrRtdeSettings) -> Mapping[str, Logged]:
    return _columns(_LED.get(settings.space, ()), "wanted")


BENCH = Bench(
    emulator="hw_adapters.ur_rtde.emulator",
    wiring=_wiring,
    golden=(
        Golden("version", codec.request_version, _HEX("0005 56 0002")),
        Golden("start", codec.start, _HEX("0003 53")),
        Golden(
            "outputs at 125 Hz",
            partial(codec.set_up_outputs, ["timestamp", "actual_q"], 125.0),
            _HEX("001d 4f 405f400000000000") + b"timestamp,actual_q",
        ),
        Golden(
            "inputs",
            partial(codec.set_up_inputs, ["input_int_register_0"]),
            _HEX("0017 49") + b"input_int_register_0",
        ),
        Golden("accepted", partial(decode, _HEX("0004 53 01")), Accepted("S", accepted=True)),
        Golden(
            "recipe",
            partial(decode, _HEX("0011 4f 01") + b"DOUBLE,UINT32"),
            _RECIPE,
        ),
        Golden(
            "a variable that is not there",
            partial(decode, _HEX("000d 4f 00") + b"NOT_FOUND"),
            Recipe("O", 0, ("NOT_FOUND",)),
        ),
        Golden(
            "message",
            partial(decode, _HEX("000c 4d 02 6869 04 52544445 01")),
            TextMessage("hi", "RTDE", 1),
        ),
        Golden("data", partial(decode, _HEX("0010 55 01") + _CONTENT), Data(1, _CONTENT)),
        Golden("values", partial(codec.decode_data, _RECIPE, Data(1, _CONTENT)), (1.5, 4)),
        Golden(
            "values, written",
            partial(codec.encode_data, _RECIPE, (1.5, 4)),
            _HEX("0010 55 01") + _CONTENT,
        ),
    ),
    refused=(
        *(Refused(name, partial(decode, package)) for name, package in _FOREIGN.items()),
        Refused("data cut short", partial(codec.decode_data, _RECIPE, Data(1, _CONTENT[:-1]))),
        Refused("data of another recipe", partial(codec.decode_data, _RECIPE, Data(2, _CONTENT))),
        Refused(
            "not finite",
            partial(codec.decode_data, _RECIPE, Data(1, _HEX("7FF8000000000000 00000004"))),
        ),
        Refused(
            "neither true nor false",
            partial(codec.decode_data, Recipe("O", 1, ("BOOL",)), Data(1, b"\2")),
        ),
        Refused("not finite, written", partial(codec.encode_data, _RECIPE, (float("nan"), 4))),
        Refused("too large, written", partial(codec.encode_data, _RECIPE, (0.0, 1 << 32))),
        Refused("a size of 1", partial(codec.PackageSplitter().split, _HEX("0001 55"))),
        Refused("a size of 64 KiB", partial(codec.PackageSplitter().split, _HEX("ffff 55"))),
    ),
    relayed=_relayed,
    truth=_truth,
    logged_commands=_logged_commands,
)
