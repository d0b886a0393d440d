"""ecos, a C++ engine, through its Python package ecospy."""

from __future__ import annotations

import ctypes
from importlib.metadata import files, version
from pathlib import Path

from job import Job
from march import Measured, march


def _preload_tbb() -> None:
    """Ecospy does not find libtbb.so.12 of the package tbb, which lies outside of site-packages."""
    for file in files("tbb") or ():
        if file.name == "libtbb.so.12":
            ctypes.CDLL(str(file.locate()), mode=ctypes.RTLD_GLOBAL)


_preload_tbb()
from ecospy import EcosLib, EcosSimulation, EcosSimulationStructure  # noqa: E402

VERSION = version("ecospy")


class Ecos:
    """A structure and its simulation; recording is its CSV writer (it has none in memory)."""

    def __init__(self, job: Job) -> None:
        EcosLib.set_log_level("warn")
        structure = EcosSimulationStructure()
        for name in job.units:
            structure.add_model(name, job.fmu)
        for a, b in zip(job.units, job.units[1:], strict=False):
            structure.make_real_connection(f"{a}::{job.output_name}", f"{b}::{job.input_name}")
        structure.add_parameter_set("start", {f"{job.units[0]}::{job.input_name}": 1.0})
        self._ends = [f"{name}::{job.output_name}" for name in job.units]
        self._structure = structure
        self._simulation = EcosSimulation(structure=structure, step_size=job.h)
        if job.record:
            self._simulation.add_csv_writer(
                str(Path(job.work) / "ecos.csv"), identifiers=self._ends
            )
        if not self._simulation.init(parameter_set="start"):
            raise RuntimeError(EcosLib.get_last_error())

    def run(self, steps: int) -> None:
        """Step."""
        self._simulation.step(steps)

    def outputs(self) -> list[float]:
        """Read the outputs."""
        return [self._simulation.get_real(name) for name in self._ends]


def measure(job: Job) -> Measured:
    """Time it."""
    return march(Ecos, job)
