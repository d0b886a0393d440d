"""PyFMI's Master."""

from __future__ import annotations

from importlib.metadata import version
from itertools import pairwise

from job import Job
from march import Measured, march_whole
from pyfmi import load_fmu
from pyfmi.master import Master

VERSION = version("pyfmi")


def measure(job: Job) -> Measured:
    """Time it; whatever it records lies in its own result handling."""

    def simulate(job: Job, steps: int) -> list[float]:
        models = [load_fmu(job.fmu, kind="CS", log_level=0) for _ in job.units]
        models[0].set(job.input_name, 1.0)
        ends = pairwise(models)
        lines = [(a, job.output_name, b, job.input_name) for a, b in ends]
        master = Master(models, lines)
        options = master.simulate_options()
        options["step_size"] = job.h
        options["result_handling"] = "memory" if job.record else None
        master.simulate(start_time=0.0, final_time=steps * job.h, options=options)
        return [float(model.get(job.output_name)[0]) for model in models]

    return march_whole(simulate, job)
