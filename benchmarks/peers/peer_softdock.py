"""Softdock from Python."""

from __future__ import annotations

from importlib.metadata import version

from job import Job
from march import Measured, march

from orchestrator import Execution, System, fmu

VERSION = version("softdock")


class Softdock:
    """A System and its Execution; recording is in memory."""

    def __init__(self, job: Job) -> None:
        system = System("chain")
        part = fmu(job.fmu)
        for i, name in enumerate(job.units):
            system = system.add(name, part, **({} if i else {job.input_name: 1.0}))
        for a, b in zip(job.units, job.units[1:], strict=False):
            system = system.connect(f"{a}.{job.output_name}", f"{b}.{job.input_name}")
        self._ends = [f"{name}.{job.output_name}" for name in job.units]
        self._step_ns = job.step_ns
        # An output that nothing uses has no place: recording it every 10^9 steps gives it one.
        record, every = (self._ends, 1) if job.record else (self._ends[-1:], 10**9)
        self._execution = Execution(
            system, step=job.h, algorithm="jacobi", record=record, every=every
        )
        self._steps = 0

    def run(self, steps: int) -> None:
        """Step."""
        self._steps += steps
        self._execution.advance(f"{self._steps * self._step_ns} ns")

    def outputs(self) -> list[float]:
        """Read the signals."""
        return [float(self._execution.get(name)) for name in self._ends]


def measure(job: Job) -> Measured:
    """Time it."""
    return march(Softdock, job)
