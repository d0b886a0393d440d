"""A parameter set in a file of its own, .ssv, applied to a system that was read."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from orchestrator.diagnostic import Diagnostic, Severity
from orchestrator.ssp.assign import assigned
from orchestrator.ssp.codes import Code
from orchestrator.ssp.element_names import decoded
from orchestrator.ssp.findings import Findings
from orchestrator.ssp.parameter_values import read_parameters
from orchestrator.ssp.reading import note_encoding, parsed
from orchestrator.ssp.schema import Schema, check
from orchestrator.ssp.sources import file_bytes
from orchestrator.system import SEPARATOR, Causality, System

_SETTABLE: Final = {Causality.PARAMETER, Causality.STRUCTURAL_PARAMETER, Causality.INPUT}


def with_parameters(system: System, path: str | Path) -> System:
    """Set what a file says, over what the system has.

    Unlike a binding inside of an SSD, which may give values to what is not there, the file was
    chosen for this system: a name that reaches nothing is refused.

    Parameters
    ----------
    system
        Resolved; nested, or flat with paths as names.
    path
        An .ssv file. Its names are those of connectors of the system itself, or paths with dots:
        ``"chaser.m"``, ``"arm.motor.k"``.

    Raises
    ------
    SspError
        If the file is missing or no valid parameter set, a name does not exist, or a value does
        not fit; all together.
    """
    findings = Findings(str(path))
    root = parsed(file_bytes(Path(path)), str(path))
    check(root, Schema.PARAMETER_VALUES, findings)
    note_encoding(root, findings)
    findings.close()
    changed = assigned(system, list(read_parameters(root, "", findings)))
    told = [_refused(found, system) for found in findings.diagnostics]
    Findings(str(path), told).close()
    return changed


def _refused(found: Diagnostic, system: System) -> Diagnostic:
    """Make an error of a value that reaches nothing, and say what may be meant."""
    if found.code != str(Code.IGNORED):
        return found
    name = found.message.partition("'")[2].partition("'")[0]
    close = get_close_matches(name, _names(system), n=1)
    hint = f"; did you mean '{close[0]}'?" if close else ""
    message = found.message.replace(" is ignored", "")
    return replace(found, severity=Severity.ERROR, message=f"{message}{hint}", clause="")


def _names(system: System) -> list[str]:
    """Names that a value could have, of a flat system."""
    own = [name for name, c in system.connectors.items() if c.causality in _SETTABLE]
    return own + [
        f"{'.'.join(map(decoded, key.split(SEPARATOR)))}.{name}"
        for key, component in system.components.items()
        for name, connector in component.connectors.items()
        if connector.causality in _SETTABLE
    ]
