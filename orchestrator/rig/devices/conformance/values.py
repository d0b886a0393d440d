"""Whether the values of an adapter are those of its emulator: each axis, its unit and its sign."""

from __future__ import annotations

import csv
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from orchestrator.core.diagnostics import WireFormatError
from orchestrator.core.structs import MutableStruct, field
from orchestrator.rig.devices.conformance.session import Bench, Logged, Session, session
from orchestrator.rig.devices.device import DeviceConnector

Floats = npt.NDArray[np.float64]

#: Samples at the start values, on the way, and at the end of it.
_REST, _WAY, _HOLD, _END = 10, 40, 40, 5
#: Of the way of a signal, by which a value may differ.
_SHARE = 0.05
#: So far before a sample came its values were true, and after it, s.
_BEFORE_S, _AFTER_S = 0.5, 0.02
_WAIT_S = 1.0


class Track(MutableStruct):
    """What was received and sent: times by CLOCK_MONOTONIC in s, and a row for each of them."""

    came: list[float] = field(default_factory=list)
    values: list[Sequence[float]] = field(default_factory=list)
    went: list[float] = field(default_factory=list)
    commands: list[Sequence[float]] = field(default_factory=list)


def value_problems(name: str, bench: Bench) -> tuple[int, list[str]]:
    """Lead a device, each command another way, and compare with the log of its emulator.

    Returns: How many signals were compared, and what differs.
    """
    with tempfile.TemporaryDirectory(prefix="softdock-values-") as folder:
        log = Path(folder) / "log.csv"
        with session(name, bench, log=log) as bench_session:
            ports = bench_session.device.connectors(bench_session.device.settings)
            settings = bench_session.device.settings
            track = _lead(bench_session, ports.inputs, ports.rate)
            begin, end = (track.came[0], track.came[-1]) if track.came else (0.0, 0.0)
        logged = _read(log)
    sides = (
        (ports.outputs, bench.truth(settings), track.came, track.values, False),
        (ports.inputs, bench.logged_commands(settings), track.went, track.commands, True),
    )
    compared, problems, spans = 0, [], dict[str, float]()
    for connectors, signals, times, values, commanded in sides:
        scalars = [(scalar, port.unit) for port in connectors for scalar in port.scalars]
        for i, (scalar, unit) in enumerate(scalars):
            if scalar not in signals or not values:
                continue
            true = _signal(logged, signals[scalar])
            true = true[:, (true[0] >= begin - _BEFORE_S) & (true[0] <= end + _AFTER_S)]
            if not true.size:
                problems.append(f"'{scalar}' has no rows in the emulator's log")
                continue
            compared += 1
            spans[unit] = max(spans.get(unit, 0.0), float(np.ptp(true[1])))
            samples = np.array([times, [row[i] for row in values]])
            problem = _difference(samples, true, spans[unit], commanded=commanded)
            problems += [f"'{scalar}' {problem}"] if problem else []
    return compared, problems


def _lead(bench_session: Session, inputs: Sequence[DeviceConnector], rate: float) -> Track:
    track, device = Track(), bench_session.device
    for step in (*(0,) * _REST, *range(_WAY), *(_WAY,) * _HOLD):
        command = bench_session.distinct_commands(step)
        if not device.answers and inputs:
            device.send(command)
            track.went.append(time.monotonic())
            track.commands.append(command)
        try:
            received = device.receive(max(_WAIT_S, 3.0 / rate))
        except WireFormatError:
            continue
        if received is None:
            continue
        track.came.append(time.monotonic())
        track.values.append(tuple(received.values))
        if device.answers:
            device.send(command)
            track.went.append(time.monotonic())
            track.commands.append(command)
    return track


def _read(log: Path) -> list[Mapping[str, str]]:
    with log.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _signal(rows: Sequence[Mapping[str, str]], signal: Logged) -> Floats:
    """Return times and values of a signal, shape (2, n)."""
    points = [
        (float(row["time_s"]), float(row[signal.column]) * signal.scale)
        for row in rows
        if signal.is_in(row)
    ]
    return np.array(points).reshape(-1, 2).T


def _difference(samples: Floats, true: Floats, span: float, *, commanded: bool) -> str:
    """Say by how much values differ from the log, from where both began; empty: they agree.

    own, true: Times and values, of the adapter and of the log, shape (2, n).
    span: By which a signal of this unit went.
    commanded: Whether the log is behind the adapter, and not before it.
    """
    before, after = (_AFTER_S, _BEFORE_S) if commanded else (_BEFORE_S, _AFTER_S)
    at_rest, began = samples[1, :_REST], true[0] <= samples[0, : _REST + 1][-1]
    noise = 0.0 if commanded else float(np.std(at_rest))
    true_zero = float(true[1, began].mean()) if began.any() else float(true[1, 0])
    errors = []
    for moment, value in samples[:, _REST:].T:
        near = true[1, (true[0] >= moment - before) & (true[0] <= moment + after)]
        if not near.size:
            near = true[1, true[0] <= moment][-1:]
        if near.size:
            errors.append(float(np.abs(near - true_zero - (value - at_rest.mean())).min()))
    # At the end nothing moves any more, so that no time has to be known there.
    here = true[1, true[0] <= samples[0, -1]]
    last = float(here[-1] if here.size else true[1, -1]) - true_zero
    at_end = abs(last - float(samples[1, -_END:].mean() - at_rest.mean()))
    error = max(float(np.median(errors)) if errors else 0.0, at_end)
    went = float(np.ptp(true[1]))
    if error <= _SHARE * max(span, went) + 4.0 * noise:
        return ""
    return f"differs by {error:.4g} from the emulator's log, where it moved by {went:.4g}"
