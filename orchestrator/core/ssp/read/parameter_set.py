"""Parameter sets that are applied from outside of a system's file."""

from __future__ import annotations

from pathlib import Path

from lxml import etree

from orchestrator.core.ssp.archive.sources import file_bytes
from orchestrator.core.ssp.common import codes
from orchestrator.core.ssp.common.findings import Findings
from orchestrator.core.ssp.common.schema import Schema, check
from orchestrator.core.ssp.read.assign import assigned
from orchestrator.core.ssp.read.bindings import mapped, read_mapping
from orchestrator.core.ssp.read.parameter_values import read_parameters
from orchestrator.core.ssp.read.reading import mend_namespace, note_encoding, parsed
from orchestrator.core.system import System


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
    root, findings = _opened(values, Schema.PARAMETER_VALUES, strict=strict)
    given = read_parameters(root, prefix, findings)
    if mapping is not None:
        entries, beside = _opened(mapping, Schema.PARAMETER_MAPPING, findings)
        given = list(mapped(given, read_mapping(entries, beside)))
    changed = assigned(system, given)
    findings.settle()
    findings.close()
    return changed


def _opened(
    source: str | Path | bytes,
    schema: Schema,
    beside: Findings | None = None,
    *,
    strict: bool = False,
) -> tuple[etree._Element, Findings]:
    label = schema.value if isinstance(source, bytes) else str(source)
    findings = beside.beside(label) if beside else Findings(label, strict=strict)
    content = source if isinstance(source, bytes) else file_bytes(Path(source))
    root = etree.Element("none")
    with findings.guard(None, codes.UNREADABLE):
        root = parsed(content, label)
        mend_namespace(root, schema, findings)
        check(root, schema, findings)
        note_encoding(root, findings)
    return root, findings
