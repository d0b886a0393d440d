"""What a run is going to move, said before anything moves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from orchestrator.rig.device_units.description import DeviceFacts, device_facts
from orchestrator.rig.devices import DeviceConnector
from orchestrator.rig.identify.excitation_plan import Procedure, planned_limits
from orchestrator.rig.identify.runner import MOTIONS, step_of
from orchestrator.study.prepare.prepared_case import PreparedCase


def identification_movements(
    case: PreparedCase, devices: Sequence[str], procedure: Procedure
) -> Iterator[str]:
    """Say how far, how fast and for how long the identification of a case moves its devices.

    Parameters
    ----------
    case
        Whose devices.
    devices
        That are identified.
    procedure
        How.

    Raises
    ------
    DescriptionError
        If nothing says how far a command may be moved, or limits go beyond its range.
    """
    for device, facts in _facts(case, devices).items():
        inputs, period = facts.ports.inputs, 1.0 / facts.ports.rate
        step = step_of(case.options.given_step, period)
        limits = {p: planned_limits(device, p, step, period, procedure) for p in inputs}
        moves = ", ".join(_move(device, p, at.amplitude, at.speed) for p, at in limits.items())
        commands = sum(port.size for port in inputs)
        lasts = procedure.rest + commands * (
            procedure.duration + procedure.compared_duration + 2.0 * procedure.rest
        )
        yield (
            f"before case '{case.name}' is armed, '{device}' ({facts.name}) moves to be identified:"
            f" {moves}; for {lasts:.3g} s, and where that shows too little again, each time for"
            f" about twice as long, {MOTIONS} times at most"
        )


def run_movements(case: PreparedCase, devices: Sequence[str]) -> Iterator[str]:
    """Say what a case commands when it runs, and within which limits."""
    for device, facts in _facts(case, devices).items():
        moves = ", ".join(
            _move(device, p, min(p.start - p.minimum, p.maximum - p.start), p.speed)
            for p in facts.ports.inputs
        )
        yield f"when it is armed, case '{case.name}' commands '{device}' ({facts.name}): {moves}"


def _facts(case: PreparedCase, devices: Sequence[str]) -> Mapping[str, DeviceFacts]:
    return {name: device_facts(case.system.component(name).source.location) for name in devices}


def _move(device: str, port: DeviceConnector, amplitude: float, speed: float) -> str:
    far = f" by up to {amplitude:.4g} {port.unit} either way" if math.isfinite(amplitude) else ""
    fast = f" at up to {speed:.4g} {port.unit}/s" if math.isfinite(speed) else ""
    return f"{device}.{port.name}{far or ' without a range'}{fast or ', without a limit of speed'}"
