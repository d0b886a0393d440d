"""The bare C loop: its step is what the FMUs themselves cost."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
from job import CHECK_STEPS, Job
from march import Measured, march

VERSION = "gcc -O2"


class Floor:
    """benchmarks/floor.c as a library; the FMU is unpacked beforehand."""

    def __init__(self, job: Job) -> None:
        self._n, self._record = job.n, job.record
        self._library = ctypes.CDLL(job.floor)
        create = self._library.floor_create
        create.restype = ctypes.c_void_p
        create.argtypes = [
            *3 * [ctypes.c_char_p],
            ctypes.c_int,
            ctypes.c_double,
            *2 * [ctypes.c_uint],
        ]
        self._library.floor_run.argtypes = [ctypes.c_void_p, ctypes.c_long, ctypes.c_void_p]
        self._library.floor_outputs.argtypes = [ctypes.c_void_p]
        self._library.floor_outputs.restype = ctypes.POINTER(ctypes.c_double)
        folder = Path(job.folder)
        self._chain = create(
            str(folder / job.library).encode(),
            job.guid.encode(),
            (folder / "resources").as_uri().encode(),
            job.n,
            job.h,
            job.input_reference,
            job.output_reference,
        )
        if not self._chain:
            raise RuntimeError("a unit does not initialise")

    def run(self, steps: int) -> None:
        """Step."""
        rows = np.empty((steps, self._n)) if self._record else None
        if self._library.floor_run(self._chain, steps, None if rows is None else rows.ctypes.data):
            raise RuntimeError("a unit fails")

    def outputs(self) -> list[float]:
        """Read the last exchange."""
        return self._library.floor_outputs(self._chain)[: self._n]


def in_sequence(job: Job) -> list[float]:
    """Outputs of a master that passes each output on within the step (Gauss-Seidel).

    From rest, unit i of such a chain is i steps ahead of Jacobi's, and equal bit for bit.
    """
    chain = Floor(job)
    chain.run(CHECK_STEPS)
    outputs = []
    for i in range(job.n):
        outputs.append(chain.outputs()[i])
        chain.run(1)
    return outputs


def measure(job: Job) -> Measured:
    """Time it, and give the outputs that others are held to."""
    return march(Floor, job) | {"in_sequence": in_sequence(job)}
