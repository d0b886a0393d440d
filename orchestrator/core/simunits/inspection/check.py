"""Whether an FMU keeps what its description promises. It is called in a process of its own."""

from __future__ import annotations

import json
import signal
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from orchestrator.core.archive import extract
from orchestrator.core.diagnostics import FmuError
from orchestrator.core.own_process import OwnProcess
from orchestrator.core.simunits.inspection.info import fmu_info
from orchestrator.core.simunits.inspection.trials import TRIALS

Outcome = Literal["passed", "flawed", "failed", "skipped"]
_OUTCOMES: dict[str, Outcome] = {"passed": "passed", "failed": "failed", "skipped": "skipped"}


@dataclass(frozen=True, slots=True)
class CheckResult:
    """How one check ended.

    Attributes
    ----------
    interface
        ``description``, ``Co-Simulation`` or ``Model Exchange``.
    name
        Which check.
    outcome
        ``"flawed"``: rules are broken in a way that does no harm.
    remark
        What was compared, why it was skipped, or what went wrong.
    """

    interface: str
    name: str
    outcome: Outcome
    remark: str


def check_fmu(path: Path, *, timeout: float = 60.0, strict: bool = False) -> list[CheckResult]:
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


def _description(path: Path, info: Mapping[str, Any], *, strict: bool) -> CheckResult:
    from fmpy.validation import validate_fmu

    problems = validate_fmu(str(path))
    name = "schema and rules"
    if not problems:
        return CheckResult("description", name, "passed", "XML schema, names, structure, units")
    remark = "; ".join(dict.fromkeys([*info["faults"], *problems]))
    outcome: Outcome = "failed" if strict or info["faults"] else "flawed"
    return CheckResult("description", name, outcome, remark)


def _calls(path: Path, folder: str, interface: str, timeout: float) -> Iterator[CheckResult]:
    left = list(TRIALS)
    while left:
        lines, end = _run(path, folder, interface, left, timeout)
        begun = [line["begin"] for line in lines if "begin" in line]
        ended = {line["name"]: line for line in lines if "name" in line}
        for name in begun:
            line = ended.get(name, {"outcome": "failed", "remark": end})
            yield CheckResult(interface, name, _OUTCOMES[line["outcome"]], line["remark"])
        if not begun:  # it did not get as far as the first check
            yield CheckResult(interface, left[0], "failed", end)
            return
        left = [name for name in left if name not in begun]


def _run(
    path: Path, folder: str, interface: str, names: list[str], timeout: float
) -> tuple[list[dict[str, str]], str]:
    """Lines that the child wrote, and how it ended."""
    module = "orchestrator.core.simunits.inspection.child"
    with tempfile.TemporaryFile() as file:
        process = OwnProcess(
            module,
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
    last = errors.splitlines()[-1:] or [""]
    return lines, f"the process ended with code {code}: {last[0]}"
