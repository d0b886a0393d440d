"""Bytes of a saved state that are damaged, or that somebody made up: refused, or harmless."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fmpy.fmi1 import FMICallException

from orchestrator.core.system import Causality, Connector, Interpolation
from orchestrator.export import DelayLine
from orchestrator.export.codegen import compiler

#: Bounces, samples at instants, relations and a discrete variable.
BALL = """model Ball
  Real h(start=1, fixed=true), v(start=0, fixed=true);
  discrete Real seen(start=0, fixed=true);
  Integer n(start=0, fixed=true);
  Boolean low;
equation
  der(h) = v;
  der(v) = -9.81;
  low = h < 0.5;
  when h <= 0 then
    reinit(v, -0.8*pre(v));
    n = pre(n) + 1;
  end when;
  when sample(0.01, 0.05) then
    seen = h;
  end when;
end Ball;"""
TRAPS = (
    "-fsanitize=undefined,float-cast-overflow",
    "-fno-sanitize=float-divide-by-zero",
    "-fsanitize-undefined-trap-on-error",
)
HEADER = struct.Struct("<48sQQ")  # GUID, size of the state, its check sum


def summed(state: bytes) -> int:
    """FNV-1a of 64 bits."""
    found = 0xCBF29CE484222325
    for byte in state:
        found = (found ^ byte) * 0x100000001B3 % 2**64
    return found


@pytest.fixture
def made(
    request: pytest.FixtureRequest,
    build_text: Callable[..., Path],
    open_fmu: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Any:
    """An FMU in the middle of its run that ends the process where it leaves its arrays."""
    monkeypatch.setattr(compiler, "FLAGS", (*compiler.FLAGS, *TRAPS))
    if request.param == "line":
        signal = Connector("y", Causality.OUTPUT)
        line = DelayLine(signal, 5_000_000, 0, 1_000_000, Interpolation.CUBIC, (0.0,))
        path = line.build("line", tmp_path / "line.fmu").path
    else:
        path = build_text("Ball", BALL, method=request.param)
    slave = open_fmu(path).initialize()
    slave.step(0.001, 480)
    return slave


def bytes_of(slave: Any) -> bytes:
    state = slave.fmu.getFMUstate()
    data = bytes(slave.fmu.serializeFMUstate(state))
    slave.fmu.freeFMUstate(state)
    return data


def hostile(state: bytes) -> Iterator[bytes]:
    """The state with each of its words, and each of its numbers, put to what does most harm."""
    words = [struct.pack("<i", n) for n in (-1, 7, 2**20, 2**31 - 1, -(2**31))]
    numbers = [struct.pack("<d", x) for x in (-1.0, 1e300, float("inf"), float("nan"), -1e19, 0.5)]
    for values, size in ((words, 4), (numbers, 8)):
        for place in range(0, len(state) - size + 1, size):
            for value in values:
                yield state[:place] + value + state[place + size :]


@pytest.mark.parametrize("made", ["dopri5", "line"], indirect=True)
def test_a_flipped_bit_is_found(made: Any) -> None:
    data = bytes_of(made)
    for place in range(0, len(data), 7):
        damaged = bytearray(data)
        damaged[place] ^= 1 << place % 8
        with pytest.raises(FMICallException):
            made.fmu.deSerializeFMUstate(bytes(damaged))
    assert "fmi2DeSerializeFMUstate: the bytes are damaged" in made.messages[-1]


@pytest.mark.slow
@pytest.mark.parametrize("made", ["dopri5", "rk4", "cvode", "line"], indirect=True)
def test_a_made_up_state_is_refused_or_harmless(made: Any) -> None:
    """No index and no count of it leads out of an array; its values may be any."""
    data = bytes_of(made)
    head, state = data[: HEADER.size], data[HEADER.size :]
    guid, size, found = HEADER.unpack(head)
    assert (size, found) == (len(state), summed(state))
    taken = refused = 0
    for forged in hostile(state):
        try:
            copy = made.fmu.deSerializeFMUstate(HEADER.pack(guid, size, summed(forged)) + forged)
        except FMICallException:
            refused += 1
            assert (
                "fmi2DeSerializeFMUstate: the bytes are no state of this model: "
                in (made.messages[-1])
            )
            continue
        taken += 1
        made.fmu.setFMUstate(copy)
        made.fmu.freeFMUstate(copy)
        try:
            for n in range(3):
                made.fmu.doStep(0.48 + 0.001 * n, 0.001)
        except FMICallException:
            pass
    assert refused > 20
    assert taken > 20


@pytest.mark.parametrize("made", ["line"], indirect=True)
def test_a_line_refuses_a_delay_that_never_ends(made: Any, open_fmu: Callable[..., Any]) -> None:
    slave = open_fmu(made.path, "other")
    for name, value in (
        ("delay", float("inf")),
        ("delay", 9.3e9),
        ("delay", -1.0),
        ("advance", 1e300),
    ):
        with pytest.raises(FMICallException):
            slave.set(**{name: value})
        assert f"'{name}' = " in slave.messages[-1]
        assert "is outside of its limits" in slave.messages[-1]


@pytest.mark.parametrize("made", ["line"], indirect=True)
def test_a_line_refuses_times_that_do_not_fit(made: Any, open_fmu: Callable[..., Any]) -> None:
    slave = open_fmu(made.path, "other")
    slave.fmu.setupExperiment(startTime=9.3e9)
    slave.fmu.enterInitializationMode()
    slave.fmu.exitInitializationMode()
    with pytest.raises(FMICallException):
        slave.fmu.doStep(9.3e9, 0.001)
    assert "leads farther from 0 than" in slave.messages[-1]
