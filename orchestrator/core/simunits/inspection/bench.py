"""What all checks share: instances of one FMU, and the comparison of runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from orchestrator.core.simunits.inspection.probe import Probe

STEPS = 20
_MOST_SHORTENINGS = 15
_MOST_STEPS = 200  # where a whole experiment is run
LOOSE = 1e-3  # two step sizes, and finite differences of unknown smoothness, agree to this


class Skip(Exception):  # noqa: N818 - no error: the FMU does not offer what is checked
    """The check does not apply to this FMU."""


class Bench:
    """Makes instances of one FMU and frees them.

    Parameters
    ----------
    description
        FMPy's model description.
    folder
        Where the FMU is unpacked.
    capabilities
        What the interface promises.
    exchange
        Model Exchange instead of Co-Simulation.
    """

    def __init__(
        self, description: Any, folder: str, capabilities: Mapping[str, Any], *, exchange: bool
    ) -> None:
        self.description = description
        self.folder = folder
        self.exchange = exchange
        self.capabilities = capabilities
        experiment = description.defaultExperiment
        self.start = float(getattr(experiment, "startTime", None) or 0.0)
        stop = float(getattr(experiment, "stopTime", None) or self.start + 1.0)
        fixed = capabilities.get("fixedInternalStepSize")
        proposed = getattr(experiment, "stepSize", None) or (stop - self.start) / 100
        self.step = float(fixed or proposed)
        if not self.step > 0:
            self.step = 0.01
        self.count = min(_MOST_STEPS, max(STEPS, round((stop - self.start) / self.step)))
        self.opened: list[Probe] = []

    def shorten(self) -> None:
        """Choose a step with which explicit Euler steps stay finite, for Model Exchange."""
        from fmpy.fmi1 import FMICallException

        for _ in range(_MOST_SHORTENINGS if self.exchange else 0):
            probe = self.open()
            try:
                probe.advance(self.step, self.count)
                values = [*probe.result(), *probe.derivatives()]
            except FMICallException:  # states that are too large, for example
                values = [math.nan]
            probe.fmu.freeInstance()
            if all(map(math.isfinite, values)):
                return
            self.step /= 10

    def open(self, *, ready: bool = True, event_mode: bool = False) -> Probe:
        """Make an instance; if ready, go through its initialisation."""
        name, exchange = f"check{len(self.opened)}", self.exchange
        probe = Probe(self.description, self.folder, name, exchange=exchange, event_mode=event_mode)
        self.opened.append(probe)
        if ready:
            probe.initialize(self.start)
            probe.excite()
        return probe

    def can(self, *names: str) -> bool:
        """Whether the interface has a capability, under one of its names in FMI 2.0 and 3.0."""
        return any(self.capabilities.get(name) is True for name in names)


def finite(probe: Probe) -> list[float]:
    """Return the result of a probe, which must be finite."""
    values = probe.result()
    if not all(map(math.isfinite, values)):
        raise AssertionError(f"outputs are not finite at t = {probe.time:g} s: {values}")
    return values


def close(one: Sequence[float], other: Sequence[float], tolerance: float) -> bool:
    """Whether two results agree to a relative tolerance."""
    return all(math.isclose(a, b, rel_tol=tolerance) for a, b in zip(one, other, strict=True))


def difference(expected: Sequence[float], found: Sequence[float]) -> str:
    """Say how two results differ."""
    pairs = [(a, b) for a, b in zip(expected, found, strict=True) if a != b]
    return f"{len(pairs)} values differ; expected {pairs[0][0]!r}, got {pairs[0][1]!r}"
