"""FMPy's simulate_ssp, which always records every connector."""

from __future__ import annotations

import time
import zipfile
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

from fmpy.ssp.simulation import simulate_ssp
from job import CHECK_STEPS, Job
from march import STRETCHES, Measured, stretch

VERSION = version("fmpy")
_SSD = """<?xml version="1.0" encoding="UTF-8"?>
<ssd:SystemStructureDescription version="1.0" name="chain"
    xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription"
    xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon">
  <ssd:System name="chain">
    <ssd:Connectors>{clock}</ssd:Connectors>
    <ssd:Elements>{components}</ssd:Elements>
    <ssd:Connections>{connections}</ssd:Connections>
  </ssd:System>
</ssd:SystemStructureDescription>
"""


def _connector(name: str, kind: str) -> str:
    return f'<ssd:Connector name="{name}" kind="{kind}"><ssc:Real/></ssd:Connector>'


def write(job: Job, path: Path) -> None:
    """Write the chain as an SSP. The first unit's input is no connector: its value is a start."""
    components = connections = ""
    for i, name in enumerate(job.units):
        ends = _connector(job.output_name, "output")
        ends += _connector(job.input_name, "input") if i else ""
        components += (
            f'<ssd:Component name="{name}" type="application/x-fmu-sharedlibrary"'
            f' source="resources/unit.fmu"><ssd:Connectors>{ends}</ssd:Connectors></ssd:Component>'
        )
    for a, b in zip(job.units, job.units[1:], strict=False):
        connections += (
            f'<ssd:Connection startElement="{a}" startConnector="{job.output_name}"'
            f' endElement="{b}" endConnector="{job.input_name}"/>'
        )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        text = _SSD.format(
            clock=_connector("clock", "input"), components=components, connections=connections
        )
        archive.writestr("SystemStructure.ssd", text)
        archive.write(job.fmu, "resources/unit.fmu")


def simulate(job: Job, path: Path, steps: int) -> tuple[list[float], list[float]]:
    """Simulate from the start.

    Returns
    -------
    outputs
        Last output of every unit, shape (n,).
    moments
        Clock at the beginning of every step, shape (steps,): a free input of the system is asked
        for its value there.
    """
    moments: list[float] = []

    def clock(_: float) -> float:
        moments.append(time.perf_counter())
        return 0.0

    first = SimpleNamespace(name=f"{job.units[0]}.{job.input_name}", value=1.0)
    # Half a step short: its loop adds up the time, and goes on while that is below the end.
    rows = simulate_ssp(
        str(path),
        stop_time=(steps - 0.5) * job.h,
        step_size=job.h,
        parameter_set=SimpleNamespace(parameters=[first]),
        input={"clock": clock},
    )
    if not len(rows) == len(moments) == steps:
        raise RuntimeError(
            f"expected {steps} steps, found {len(rows)}, {len(moments)} of them timed"
        )
    return [float(rows[f"{name}.{job.output_name}"][-1]) for name in job.units], moments


def measure(job: Job) -> Measured:
    """Time it: a run of the check's length, and a long one in stretches."""
    path = Path(job.work) / "chain.ssp"
    write(job, path)
    began = time.perf_counter()
    outputs, moments = simulate(job, path, CHECK_STEPS)
    once = (moments[-1] - moments[0]) / (CHECK_STEPS - 1)
    steps = stretch(once, job)
    _, clock = simulate(job, path, 1 + STRETCHES * steps)
    ends = clock[::steps]
    seconds = [(b - a) / steps for a, b in pairwise(ends)]
    start = moments[1] - began
    return {"start_s": start, "step_s": seconds, "outputs": outputs, "steps": steps}
