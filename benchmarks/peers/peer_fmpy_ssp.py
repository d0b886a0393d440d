"""FMPy's simulate_ssp, which always records every connector."""

from __future__ import annotations

import zipfile
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

from fmpy.ssp.simulation import simulate_ssp
from job import Job
from march import Measured, march_whole

VERSION = version("fmpy")
_SSD = """<?xml version="1.0" encoding="UTF-8"?>
<ssd:SystemStructureDescription version="1.0" name="chain"
    xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription"
    xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon">
  <ssd:System name="chain">
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
        text = _SSD.format(components=components, connections=connections)
        archive.writestr("SystemStructure.ssd", text)
        archive.write(job.fmu, "resources/unit.fmu")


def measure(job: Job) -> Measured:
    """Time it."""
    path = Path(job.work) / "chain.ssp"
    write(job, path)
    first = SimpleNamespace(name=f"{job.units[0]}.{job.input_name}", value=1.0)

    def simulate(job: Job, steps: int) -> list[float]:
        # Half a step short: its loop adds up the time, and goes on while that is below the end.
        rows = simulate_ssp(
            str(path),
            stop_time=(steps - 0.5) * job.h,
            step_size=job.h,
            parameter_set=SimpleNamespace(parameters=[first]),
        )
        if len(rows) != steps:
            raise RuntimeError(f"expected {steps} steps, found {len(rows)}")
        return [float(rows[f"{name}.{job.output_name}"][-1]) for name in job.units]

    return march_whole(simulate, job)
