"""libcosim, a C++ engine, through its Python package libcosimpy."""

from __future__ import annotations

from importlib.metadata import version
from itertools import pairwise

from job import CHECK_STEPS, Job
from libcosimpy.CosimEnums import CosimVariableType
from libcosimpy.CosimExecution import CosimExecution
from libcosimpy.CosimLogging import CosimLogLevel, log_output_level
from libcosimpy.CosimObserver import CosimObserver
from libcosimpy.CosimSlave import CosimLocalSlave
from march import Measured, march

VERSION = version("libcosimpy")


class LibCosim:
    """A fixed-step execution; recording is a time series observer in memory."""

    def __init__(self, job: Job, *, watched: bool = False) -> None:
        log_output_level(CosimLogLevel.ERROR)
        self._job = job
        self._execution = CosimExecution.from_step_size(step_size=job.step_ns)  # nanoseconds
        self._slaves = [CosimLocalSlave(fmu_path=job.fmu, instance_name=name) for name in job.units]
        index = [self._execution.add_local_slave(slave) for slave in self._slaves]
        self.index = index
        for a, b in pairwise(index):
            ends = (a, job.output_reference, b, job.input_reference)
            self._sure(self._execution.connect_real_variables(*ends) == 0)
        self._sure(self._execution.real_initial_value(index[0], job.input_reference, 1.0))
        if watched:
            self.last = CosimObserver.create_last_value()
            self._sure(self._execution.add_observer(self.last))
        if job.record and not watched:
            self._series = CosimObserver.create_time_series()
            self._sure(self._execution.add_observer(self._series))
            for i in index:
                self._sure(
                    self._series.start_time_series(i, job.output_reference, CosimVariableType.REAL)
                )

    @staticmethod
    def _sure(done: object) -> None:
        if not done:
            raise RuntimeError("libcosim refused a call")

    def run(self, steps: int) -> None:
        """Step; the first one initialises."""
        self._sure(self._execution.step(steps))

    def outputs(self) -> list[float]:
        """Read the outputs of a second chain, because watching them costs time."""
        chain = LibCosim(self._job, watched=True)
        chain.run(CHECK_STEPS)
        read, reference = chain.last.last_real_values, [self._job.output_reference]
        return [read(i, reference)[0] for i in chain.index]


def measure(job: Job) -> Measured:
    """Time it."""
    return march(LibCosim, job)
