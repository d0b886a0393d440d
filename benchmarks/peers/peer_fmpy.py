"""FMPy's ctypes functions in a hand-written loop with prepared arguments."""

from __future__ import annotations

import ctypes
from importlib.metadata import version

import numpy as np
from fmpy import extract, read_model_description
from fmpy.fmi2 import FMU2Slave
from job import Job
from march import Measured, march

VERSION = version("fmpy")


class Loop:
    """What a user of FMPy writes, Jacobi; recording is an array in memory."""

    def __init__(self, job: Job) -> None:
        folder = extract(job.fmu)
        description = read_model_description(folder)
        self._h, self._done, self._record = job.h, 0, job.record
        self._units = []
        for name in job.units:
            unit = FMU2Slave(
                guid=description.guid,
                unzipDirectory=folder,
                modelIdentifier=description.coSimulation.modelIdentifier,
                instanceName=name,
            )
            unit.instantiate()
            unit.setupExperiment(startTime=0.0)
            unit.enterInitializationMode()
            unit.exitInitializationMode()
            self._units.append(unit)
        self._source = (ctypes.c_uint * 1)(job.input_reference)
        self._target = (ctypes.c_uint * 1)(job.output_reference)
        self._values = [(ctypes.c_double * 1)() for _ in range(job.n + 1)]
        self._values[0][0] = 1.0

    def run(self, steps: int) -> None:
        """Step."""
        h, source, target = self._h, self._source, self._target
        inputs = list(zip(self._units, self._values, strict=False))
        outputs = list(zip(self._units, self._values[1:], strict=True))
        rows = np.empty((steps, len(outputs))) if self._record else None
        for k in range(steps):
            now = (self._done + k) * h
            for unit, value in inputs:
                unit.fmi2SetReal(unit.component, source, 1, value)
                unit.doStep(now, h)
            for unit, value in outputs:
                unit.fmi2GetReal(unit.component, target, 1, value)
            if rows is not None:
                rows[k] = [value[0] for _, value in outputs]
        self._done += steps

    def outputs(self) -> list[float]:
        """Read the last exchange."""
        return [value[0] for value in self._values[1:]]


def measure(job: Job) -> Measured:
    """Time it."""
    return march(Loop, job)
