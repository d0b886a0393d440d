"""Parameter sets that are applied from outside of a system's file."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from lxml import etree

from orchestrator.diagnostic import Diagnostic, Severity
from orchestrator.ssp.assign import assigned
from orchestrator.ssp.bindings import mapped, read_mapping
from orchestrator.ssp.codes import Code
from orchestrator.ssp.element_names import decoded
from orchestrator.ssp.findings import Findings
from orchestrator.ssp.parameter_values import read_parameters
from orchestrator.ssp.reading import mend_namespace, note_encoding, parsed
from orchestrator.ssp.schema import Schema, check
from orchestrator.ssp.sources import file_bytes
from orchestrator.system import SEPARATOR, System


def apply_parameter_set(
    system: System,
    values: str | Path | bytes,
    mapping: str | Path | bytes | None = None,
    prefix: str = "",
    *,
    strict: bool = False,
) -> System:
    """Apply a parameter set as the last parameter binding of a system would.

    Its values win over those that the system has.

    Parameters
    ----------
    system
        Nested or flat: a component ``"arm/motor"`` of a flat one is ``arm.motor`` here as well.
    values
        An .ssv file, or its text.
    mapping
        An .ssm file, or its text: what it does not name is not applied.
    prefix
        Goes before every name of the set, such as ``"arm."``.
    strict
        Whether a name that reaches nothing is refused, instead of ignored and logged: an SSD may
        give values to what is not there, a file that was chosen for this system should not.

    Raises
    ------
    SspError
        All problems together, with file and line.
    """
    root, findings = _opened(values, Schema.PARAMETER_VALUES)
    given = read_parameters(root, prefix, findings)
    if mapping is not None:
        entries, beside = _opened(mapping, Schema.PARAMETER_MAPPING, findings)
        given = list(mapped(given, read_mapping(entries, beside)))
    changed = assigned(system, given)
    if strict:
        told = [_refused(found, system) for found in findings.diagnostics]
        Findings(findings.label, told).close()
    else:
        findings.close()
    return changed


def _opened(
    source: str | Path | bytes, schema: Schema, beside: Findings | None = None
) -> tuple[etree._Element, Findings]:
    label = schema.value if isinstance(source, bytes) else str(source)
    findings = beside.beside(label) if beside else Findings(label)
    content = source if isinstance(source, bytes) else file_bytes(Path(source))
    root = etree.Element("none")
    with findings.guard(None, Code.UNREADABLE):
        root = parsed(content, label)
        mend_namespace(root, schema, findings)
        check(root, schema, findings)
        note_encoding(root, findings)
    return root, findings


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
    own = [name for name, c in system.connectors.items() if c.causality.is_settable]
    return own + [
        f"{'.'.join(map(decoded, key.split(SEPARATOR)))}.{name}"
        for key, component in system.components.items()
        for name, connector in component.connectors.items()
        if connector.causality.is_settable
    ]
