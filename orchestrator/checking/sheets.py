"""Files of SSP that are no system: parameter sets, mappings, signal dictionaries."""

from __future__ import annotations

from orchestrator.diagnostic import Diagnostic
from orchestrator.ssp.bindings import read_mapping
from orchestrator.ssp.codes import Code
from orchestrator.ssp.dictionaries import read_entries
from orchestrator.ssp.findings import Findings
from orchestrator.ssp.locations import Sheet
from orchestrator.ssp.parameter_values import read_parameters
from orchestrator.ssp.reading import note_encoding
from orchestrator.ssp.schema import Schema, check
from orchestrator.ssp.survey import survey

#: What the ending of a file means.
KINDS = {
    ".ssv": Schema.PARAMETER_VALUES,
    ".ssm": Schema.PARAMETER_MAPPING,
    ".ssb": Schema.SIGNAL_DICTIONARY,
}


def check_sheet(sheet: Sheet, kind: Schema) -> list[Diagnostic]:
    """Check one file by itself, as the reader of systems would."""
    findings = Findings(sheet.label)
    with findings.guard(sheet.root, Code.ROOT):
        check(sheet.root, kind, findings)
        note_encoding(sheet.root, findings)
        survey(sheet.root, findings)
        if kind is Schema.PARAMETER_VALUES:
            list(read_parameters(sheet.root, "", findings))
        elif kind is Schema.PARAMETER_MAPPING:
            read_mapping(sheet.root, findings)
        else:
            read_entries(sheet.root, findings)
    return findings.diagnostics
