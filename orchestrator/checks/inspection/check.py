"""Facts of an FMU, and whether it keeps what its description promises, tried in a process.

That process is ``python -m ..check FMU FOLDER INTERFACE NAMES``. It writes one line of JSON when a
check begins and one when it ends, so that its parent knows which check a crash belongs to.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from lxml import etree

from orchestrator.core.diagnostics import FmuError
from orchestrator.core.diagnostics.reading import reads
from orchestrator.core.files.archive import extract, open_archive, parse_xml, read_entry
from orchestrator.core.own_process import OwnProcess
from orchestrator.core.simunits.fmi.description_parts import ModelDescription, Variable
from orchestrator.core.simunits.fmi.model_description import read_model_description
from orchestrator.core.structs import Struct

_INTERFACES = {
    "Co-Simulation": "CoSimulation",
    "Model Exchange": "ModelExchange",
    "Scheduled Execution": "ScheduledExecution",
}
_EXPERIMENT = {
    "start": "startTime",
    "stop": "stopTime",
    "step": "stepSize",
    "tolerance": "tolerance",
}
_PORTS = ("input", "output", "parameter", "structuralParameter", "calculatedParameter")


def parse_description(path: Path) -> ModelDescription:
    """Read the model description, whatever it violates as long as it can be read."""
    return _read(path)[0]


def _read(path: Path) -> tuple[ModelDescription, tuple[str, ...], tuple[str, ...]]:
    """Return the description, its faults and its flaws."""
    root = _root(path)
    version = {"1": 1, "2": 2, "3": 3}.get(root.get("fmiVersion", "")[:1])
    if version is None:
        raise FmuError.in_file(
            path, f"FMI version {root.get('fmiVersion', 'none')}; expected 1, 2 or 3"
        )
    reading = read_model_description(path, root, version)
    if reading.described is None:
        raise FmuError.in_file(
            path, f"modelDescription.xml is not valid: {'; '.join(reading.faults)}"
        )
    return reading.described, reading.faults, reading.flaws


@reads("the FMU cannot be read", FmuError)
def fmu_info(path: Path) -> dict[str, Any]:
    """Ports, units, capabilities and sizes of an FMU, as plain data."""
    described, faults, flaws = _read(path)
    with open_archive(path, FmuError) as archive:
        entries = archive.infolist()
    names = [entry.filename for entry in entries]
    variables = described.modelVariables
    experiment = described.defaultExperiment
    return {
        "file": str(path),
        "fmi_version": described.fmiVersion,
        "model": described.modelName,
        "description": described.description or "",
        "tool": described.generationTool or "",
        "token": described.guid or "",
        "faults": list(faults),
        "flaws": list(flaws),
        "interfaces": capabilities(path),
        "platforms": sorted(
            {n.split("/")[1] for n in names if n.startswith("binaries/") and n.count("/") > 1}
        ),
        "windows_libraries": _windows_libraries(path, names),
        "has_sources": any(n.startswith("sources/") and n[-1] != "/" for n in names),
        "sizes": {
            "variables": len(variables),
            **{f"{c}s": sum(v.causality == c for v in variables) for c in _PORTS},
            "states": len(described.derivatives),
            "event_indicators": described.numberOfEventIndicators or len(described.eventIndicators),
            "archive_bytes": path.stat().st_size,
            "unpacked_bytes": sum(entry.file_size for entry in entries),
        },
        "experiment": {
            name: None if (text := getattr(experiment, key, None)) is None else float(text)
            for name, key in _EXPERIMENT.items()
        },
        "ports": [_port(variable) for variable in variables if variable.causality in _PORTS],
    }


def _windows_libraries(path: Path, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return, of each Windows library in an archive, what it needs and what of that is absent.

    ``absent`` is ``None`` where nobody knows: without Wine, or for 32-bit Windows.
    """
    folders = {
        "binaries/win64",
        "binaries/win32",
        "binaries/x86_64-windows",
        "binaries/x86-windows",
    }
    libraries = [n for n in names if n.lower().endswith(".dll") and n.rpartition("/")[0] in folders]
    if not libraries:
        return {}
    from orchestrator.core.simunits.fmi.library_file import needed_libraries
    from orchestrator.core.simunits.fmi.wine import absent_libraries

    facts: dict[str, dict[str, Any]] = {}
    with open_archive(path, FmuError) as archive:
        for name in libraries:
            try:
                needed = needed_libraries(read_entry(path, archive, name, FmuError))
            except ValueError:
                facts[name] = {"needs": None, "absent": None}
                continue
            folder = name.rpartition("/")[0] + "/"
            neighbours = [name.removeprefix(folder) for name in names if name.startswith(folder)]
            absent = absent_libraries(needed, neighbours) if "64" in folder else None
            facts[name] = {
                "needs": list(needed),
                "absent": None if absent is None else list(absent),
            }
    return facts


def capabilities(path: Path) -> dict[str, dict[str, Any]]:
    """Attributes of each interface, as they are written; what is not written has its default.

    They are read from the XML, for all that a version of FMI knows.
    """
    root = _root(path)
    elements = {name: root.find(tag) for name, tag in _INTERFACES.items()}
    return {
        name: {str(key): _value(str(text)) for key, text in element.attrib.items()}
        for name, element in elements.items()
        if element is not None
    }


def _root(path: Path) -> etree._Element:
    with open_archive(path, FmuError) as archive:
        content = read_entry(path, archive, "modelDescription.xml", FmuError)
    return parse_xml(content, f"{path}: modelDescription.xml", FmuError)


def _value(text: str) -> bool | int | float | str:
    if text in {"true", "false"}:
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _port(variable: Variable) -> dict[str, Any]:
    declared = variable.declaredType
    return {
        "name": variable.name,
        "causality": variable.causality,
        "type": variable.type,
        "literals": [item.name for item in declared.items] if declared is not None else [],
        "shape": [d.start if d.start is not None else "?" for d in variable.dimensions],
        "variability": variable.variability,
        "unit": variable.unit or (declared.unit if declared is not None else None),
        "start": variable.start,
        "min": variable.min,
        "max": variable.max,
        "description": variable.description or "",
    }


Outcome = Literal["passed", "flawed", "failed", "skipped"]


class FmuCheckResult(Struct):
    """How one check ended.

    interface: ``description``, ``Co-Simulation`` or ``Model Exchange``.
    name: Which check.
    outcome: ``"flawed"``: rules are broken in a way that does no harm.
    remark: What was compared, why it was skipped, or what went wrong.
    """

    interface: str
    name: str
    outcome: Outcome
    remark: str


def check_fmu(path: Path, *, timeout: float = 60.0, strict: bool = False) -> list[FmuCheckResult]:
    """Check the description, then every interface by real calls.

    A crash or an endless call of the FMU fails the check during which it happens; the rest goes on.
    """
    info = fmu_info(path)
    version = info["fmi_version"]
    if version != "2.0" and not version.startswith("3."):
        raise FmuError.in_file(path, f"FMI version {version}; FMI 2.0 and 3.0 can be checked")
    results = [_description(path, info, strict=strict)]
    interfaces = [name for name in info["interfaces"] if name != "Scheduled Execution"]
    with tempfile.TemporaryDirectory(prefix="softdock-check-") as folder:
        extract(path, Path(folder), FmuError)
        for interface in interfaces:
            results += _calls(path, folder, interface, timeout)
    return results


def _description(path: Path, info: Mapping[str, Any], *, strict: bool) -> FmuCheckResult:
    from fmpy.validation import validate_fmu

    problems = validate_fmu(str(path))
    name = "schema and rules"
    if not problems:
        return FmuCheckResult("description", name, "passed", "XML schema, names, structure, units")
    remark = "; ".join(dict.fromkeys([*info["faults"], *problems]))
    outcome: Outcome = "failed" if strict or info["faults"] else "flawed"
    return FmuCheckResult("description", name, outcome, remark)


def _calls(path: Path, folder: str, interface: str, timeout: float) -> Iterator[FmuCheckResult]:
    from orchestrator.checks.inspection.trials import TRIALS

    remaining = list(TRIALS)
    while remaining:
        lines, end = _run(path, folder, interface, remaining, timeout)
        begun = [line["begin"] for line in lines if "begin" in line]
        ended = {line["name"]: line for line in lines if "name" in line}
        for name in begun:
            line = ended.get(name, {"outcome": "failed", "remark": end})
            yield FmuCheckResult(interface, name, line["outcome"], line["remark"])
        if not begun:  # it did not get as far as the first check
            yield FmuCheckResult(interface, remaining[0], "failed", end)
            return
        remaining = [name for name in remaining if name not in begun]


def _run(
    path: Path, folder: str, interface: str, names: list[str], timeout: float
) -> tuple[list[dict[str, Any]], str]:
    """Lines that the child wrote, and how it ended."""
    with tempfile.TemporaryFile() as file:
        process = OwnProcess(
            "orchestrator.checks.inspection.check",
            *(str(path), folder, interface, ",".join(names)),
            tied=True,
            stdout=file,
            keeps_stderr=True,
        )
        is_late = not process.wait(timeout)
        errors, code = process.finish(), process.returncode
        file.seek(0)
        written = file.read()
    lines = [json.loads(line) for line in written.decode().splitlines() if line.endswith("}")]
    if is_late or code is None:
        return lines, f"no answer within {timeout:g} s"
    if code < 0:
        return lines, f"the process crashed: {signal.Signals(-code).name}"
    last = errors.splitlines()[-1:]
    return lines, ": ".join([f"the process ended with code {code}", *last])


def main(path: str, folder: str, interface: str, names: str) -> None:
    """Run the checks of the given names, in a process that may load the FMU."""
    from orchestrator.checks.inspection.probe import InstanceBench, Skip
    from orchestrator.checks.inspection.trials import TRIALS

    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the FMU prints itself is no answer

    def tell(**line: Any) -> None:
        channel.write(json.dumps(line) + "\n")
        channel.flush()

    description = parse_description(Path(path))
    promised = capabilities(Path(path))[interface]
    for name in names.split(","):
        tell(begin=name)
        bench = InstanceBench(description, folder, promised, exchange=interface == "Model Exchange")
        try:
            bench.shorten()
            tell(name=name, outcome="passed", remark=TRIALS[name](bench))
        except Skip as reason:
            tell(name=name, outcome="skipped", remark=str(reason))
        except Exception as error:  # noqa: BLE001 - whatever a foreign FMU causes is its result
            message = next((p.messages[-1] for p in reversed(bench.opened) if p.messages), "")
            text = str(error) or type(error).__name__
            tell(name=name, outcome="failed", remark=f"{text}: {message}" if message else text)
    channel.close()
    os._exit(0)  # an FMU that was not freed must not be unloaded in an unknown state


if __name__ == "__main__":
    main(*sys.argv[1:5])
