"""The gate of a device without a supervisor, at its limits, in synthetic time."""

from types import SimpleNamespace

import numpy as np
import pytest

from orchestrator.core.diagnostics import CommandStaleError
from orchestrator.rig.device_units.supervision import OwnGate
from orchestrator.rig.devices import (
    DeviceConnector,
    DeviceConnectors,
    DeviceSettings,
)

MS, S = 1_000_000, 1_000_000_000
PERIOD = 4 * MS


def own_gate(clock, **settings):
    ports = DeviceConnectors((DeviceConnector("u", "m", speed=2.0, deceleration=2.0),), (), 250.0)
    return OwnGate(
        SimpleNamespace(ports=ports, settings=DeviceSettings(**settings)), lambda: clock[0]
    )


@pytest.mark.parametrize(
    ("stale_after", "watchdog", "cycles"), [(0.1, 9.0, 25), (0.04, 0.04, 10), (0.001, 9.0, 3)]
)
def test_a_run_is_stale_after_its_time_the_watchdogs_or_three_cycles(
    monkeypatch, stale_after, watchdog, cycles
):
    monkeypatch.setattr(DeviceSettings, "own_watchdog", watchdog)
    clock = [S]
    gate = own_gate(clock, command_stale_after=stale_after)
    block = SimpleNamespace(commands_given=2)
    gate.command([0.0], 2, PERIOD)
    for count in range(cycles + 2):
        gate.saw(SimpleNamespace(shaped=0), np.array([]))
        gate.watch(block, PERIOD)
        assert not gate.stopping, count
        assert gate.trusted
        clock[0] += PERIOD
    gate.saw(SimpleNamespace(shaped=0), np.array([]))
    with pytest.raises(CommandStaleError, match=f"sent no new command for {cycles} of its cycles"):
        gate.watch(block, PERIOD)
    assert gate.stopping
    assert not gate.trusted


def test_a_run_that_gave_no_command_is_not_late():
    clock = [S]
    gate = own_gate(clock)
    for _ in range(5):
        clock[0] += 60 * S
        gate.saw(SimpleNamespace(shaped=0), np.array([]))
        gate.watch(SimpleNamespace(commands_given=0), PERIOD)
    assert not gate.stopping


@pytest.mark.parametrize("late_ns", [0, 1])
def test_without_samples_it_waits_for_its_time_to_connect_beyond(late_ns):
    clock = [S]
    gate = own_gate(clock, command_stale_after=0.125, connect_timeout=2.0)
    block = SimpleNamespace(commands_given=2)
    gate.watch(block, PERIOD)
    clock[0] += 2125 * MS + late_ns
    if late_ns:
        with pytest.raises(CommandStaleError):
            gate.watch(block, PERIOD)
    else:
        gate.watch(block, PERIOD)


def test_a_stop_that_does_not_end_is_over_after_3_s():
    clock = [S]
    gate = own_gate(clock)
    gate.command([0.008], 2, PERIOD)
    assert not gate.is_over  # which begins the way to rest
    assert gate.stopping
    clock[0] += 3 * S
    assert not gate.is_over
    clock[0] += PERIOD
    assert gate.is_over
