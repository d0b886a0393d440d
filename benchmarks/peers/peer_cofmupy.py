"""CoFMPy's Coordinator and Master."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

from cofmupy import Coordinator
from job import Job
from march import Measured, march

VERSION = version("cofmupy")


class CoFmuPy:
    """Jacobi, not iterative; recording is its own, in memory."""

    def __init__(self, job: Job) -> None:
        ends = zip(job.units, job.units[1:], strict=False)
        config = {
            "cosim_method": "jacobi",
            "iterative": False,
            "fmus": [
                {
                    "id": name,
                    "name": name,
                    "path": job.fmu,
                    "initialization": {} if i else {job.input_name: 1.0},
                }
                for i, name in enumerate(job.units)
            ],
            "connections": [
                {
                    "source": {"id": a, "variable": job.output_name},
                    "target": {"id": b, "variable": job.input_name},
                }
                for a, b in ends
            ],
        }
        path = Path(job.work) / "chain.json"
        path.write_text(json.dumps(config), encoding="utf-8")
        self._coordinator = Coordinator()
        self._coordinator.start(conf_path=str(path))
        self._job = job

    def run(self, steps: int) -> None:
        """Step: the Coordinator always records, its Master only when told to."""
        master, h, record = self._coordinator.master, self._job.h, self._job.record
        for _ in range(steps):
            master.do_step(h, input_dict={}, record_outputs=record)

    def outputs(self) -> list[float]:
        """Read the outputs."""
        read = self._coordinator.get_variable
        return [float(read((name, self._job.output_name))[0]) for name in self._job.units]


def measure(job: Job) -> Measured:
    """Time it."""
    return march(CoFmuPy, job)
