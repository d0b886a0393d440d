"""Files that cannot be checked, and files of SSP that are no system."""

from __future__ import annotations

from orchestrator.core.diagnostics import Diagnostic
from orchestrator.core.diagnostics.errors import Code, error, note
from orchestrator.core.ssp.archive.locations import SspFile
from orchestrator.core.ssp.common import codes
from orchestrator.core.ssp.common.codes import Findings
from orchestrator.core.ssp.common.schema import Schema, check
from orchestrator.core.ssp.read.bindings import read_mapping
from orchestrator.core.ssp.read.connectors import read_entries
from orchestrator.core.ssp.read.parameter_values import read_parameters
from orchestrator.core.ssp.read.reading import note_encoding, survey

CODES: tuple[Code, ...] = (
    error(
        "FIL101",
        "the target cannot be checked",
        "It is missing or unreadable, a folder without a system, or of a kind that is not known."
        " The exit code is 2.",
    ),
    note(
        "FIL102",
        "steps, loops and capabilities were not looked at",
        "They can only be told of a system that has components, whose sources can be opened and"
        " whose connections hold. Mend the errors that are listed, and check again.",
    ),
)


#: What the ending of a file means.
KINDS = {
    ".ssv": Schema.PARAMETER_VALUES,
    ".ssm": Schema.PARAMETER_MAPPING,
    ".ssb": Schema.SIGNAL_DICTIONARY,
}


def check_ssp_file(ssp_file: SspFile, kind: Schema) -> list[Diagnostic]:
    """Check one file by itself, as the reader of systems would."""
    findings = Findings(ssp_file.label)
    with findings.guard(ssp_file.root, codes.ROOT):
        check(ssp_file.root, kind, findings)
        note_encoding(ssp_file.root, findings)
        survey(ssp_file.root, findings)
        if kind is Schema.PARAMETER_VALUES:
            list(read_parameters(ssp_file.root, "", findings))
        elif kind is Schema.PARAMETER_MAPPING:
            read_mapping(ssp_file.root, findings)
        else:
            read_entries(ssp_file.root, findings)
    return findings.diagnostics
