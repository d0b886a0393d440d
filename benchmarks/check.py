"""`softdock check` of a system of many components, against the time that lxml takes to parse it.

usage: python benchmarks/check.py [--components N] [--json]

A chain of bodies and the sheets between them (fmus/build, which must have been built), each in a
loop with its neighbours over delayed lines. The first check reads the FMUs; then the best of three
counts. Times are those of the processor, so that other work on the machine matters little.
"""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path

from lxml import etree
from runner import Benchmark, processor_seconds

from orchestrator.checks import check_target
from orchestrator.study.experiment import RunOptions

FMUS = Path(__file__).resolve().parents[1] / "fmus" / "build"
_SPACES = " ".join(
    f'xmlns:{prefix}="http://ssp-standard.org/SSP1/SystemStructure{name}"'
    for prefix, name in (("ssd", "Description"), ("ssc", "Common"), ("ssv", "ParameterValues"))
)
_FMU = "application/x-fmu-sharedlibrary"
_DELAY = (
    '<ssd:Annotations><ssc:Annotation type="io.softdock.delay">'
    '<sd:TransportDelay xmlns:sd="https://softdock.io/ssp/1" nominal="0.016" unit="s"/>'
    "</ssc:Annotation></ssd:Annotations>"
)
_BODY = {"force": "input", "virtual_force": "input", "thrust": "input"}
_SHEET = {f"{what}_{side}": "input" for side in "ab" for what in ("position", "velocity")}
_OUTPUTS = {"Chaser": ("position", "velocity"), "Compliance": ("force_a", "force_b")}


def _component(name: str, model: str, inputs: dict[str, str]) -> str:
    kinds = {**inputs, **dict.fromkeys(_OUTPUTS[model], "output")}
    connectors = "\n".join(
        f'<ssd:Connector name="{key}" kind="{kind}"><ssc:Real/></ssd:Connector>'
        for key, kind in kinds.items()
    )
    values = "".join(
        f'<ssv:Parameter name="{key}"><ssv:Real value="0"/></ssv:Parameter>' for key in inputs
    )
    return f"""<ssd:Component name="{name}" type="{_FMU}" source="{FMUS}/{model}.fmu">
<ssd:Connectors>{connectors}</ssd:Connectors>
<ssd:ParameterBindings><ssd:ParameterBinding><ssd:ParameterValues>
<ssv:ParameterSet version="1.0" name="v"><ssv:Parameters>{values}</ssv:Parameters>
</ssv:ParameterSet></ssd:ParameterValues></ssd:ParameterBinding></ssd:ParameterBindings>
</ssd:Component>
"""


def _line(source: str, target: str, inside: str = "") -> str:
    ends = []
    for side, end in (("start", source), ("end", target)):
        element, connector = end.split(".")
        ends.append(f'{side}Element="{element}" {side}Connector="{connector}"')
    return f"<ssd:Connection {' '.join(ends)}>{inside}</ssd:Connection>\n"


def chain(count: int) -> str:
    """Return an .ssd of so many components."""
    parts, lines = [], []
    for number in range(count):
        if number % 2 == 0:
            parts.append(_component(f"c{number}", "Chaser", _BODY))
            continue
        parts.append(_component(f"c{number}", "Compliance", _SHEET))
        for side, body, force in (("a", number - 1, "force"), ("b", number + 1, "virtual_force")):
            if body < count:
                lines += (
                    _line(f"c{body}.{what}", f"c{number}.{what}_{side}", _DELAY)
                    for what in ("position", "velocity")
                )
                lines.append(_line(f"c{number}.force_{side}", f"c{body}.{force}"))
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<ssd:SystemStructureDescription {_SPACES} version="1.0" name="chain">
<ssd:System name="chain"><ssd:Elements>
{"".join(parts)}</ssd:Elements><ssd:Connections>
{"".join(lines)}</ssd:Connections></ssd:System>
<ssd:DefaultExperiment startTime="0" stopTime="1"/>
</ssd:SystemStructureDescription>
"""


def main() -> None:
    """Measure and print."""
    benchmark = Benchmark(__doc__)
    benchmark.argument("--components", type=int, default=1000)
    options = benchmark.options()
    count = 20 if options.quick else options.components
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "chain.ssd"
        file.write_text(chain(count))
        settings = RunOptions(step="1 ms")
        first = processor_seconds(lambda: check_target(file, settings))
        best = min(processor_seconds(lambda: check_target(file, settings)) for _ in range(3))
        parse = min(processor_seconds(lambda: etree.parse(file)) for _ in range(5))
        report = check_target(file, settings)
    found = {
        "components": count,
        "connections": next(iter(report.systems.values())).connections,
        "findings": len(report.findings),
        "first_s": first,
        "check_s": best,
        "parse_s": parse,
        "ratio": best / parse,
    }
    benchmark.table("", ["figure", "value"], found.items())
    benchmark.finish(**found)


if __name__ == "__main__":
    main()
