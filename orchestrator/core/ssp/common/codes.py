"""The codes of what is found in SSP files. Their meanings never change; new ones are added."""

from __future__ import annotations

from orchestrator.core.diagnostics import Diagnostic, Severity, SspError
from orchestrator.core.diagnostics.errors import Code

#: What is said of a code beyond its meaning, by its first digit.
_KINDS = {
    "0": "The file, the archive or what it refers to cannot be read.",
    "1": "The file is not as the standard says. An error leaves open what is meant; a warning says"
    " how it is read all the same.",
    "2": "The standard allows it, and Softdock does not support it.",
    "3": "It is read, but has no place in a system that runs: nothing follows from it.",
}


def _code(name: str, meaning: str) -> Code:
    return Code(name, None, meaning, _KINDS[name[3]])


UNREADABLE = _code("SSP001", "a file is missing or cannot be read")
ARCHIVE = _code("SSP002", "an archive is damaged, unsafe or too large")
MALFORMED = _code("SSP003", "the XML is malformed, or declares a document type")
ENCODING = _code("SSP004", "the file is not in UTF-8")
ROOT = _code("SSP005", "the root element is not the expected one")
VERSION = _code("SSP006", "the version of SSP is missing or not known")
URI = _code("SSP007", "a source is no URI of a file in reach")
NESTING = _code("SSP008", "files contain each other")
LIMIT = _code("SSP009", "more or deeper than any honest file")
VARIANT = _code("SSP010", "there is no such .ssd in an archive or a folder")
FOREIGN_ZIP = _code("SSP011", "the archive uses what SSP does not allow")

SCHEMA = _code("SSP101", "not valid, and it is unclear what is meant")
TOLERATED = _code("SSP102", "not valid, but it is clear what is meant")
TAKEN = _code("SSP103", "a name is given twice")
UNKNOWN_END = _code("SSP104", "a connection ends at nothing")
UNDECLARED = _code("SSP105", "a connection ends at a connector that is not declared")
KINDS = _code("SSP106", "connectors of these kinds may not be connected")
NO_UNIT = _code("SSP107", "a unit is not defined in its file")
OTHER_UNIT = _code("SSP108", "a unit is defined otherwise than its name says")
NO_ENUMERATION = _code("SSP109", "an enumeration is not defined in its file")
NO_TYPE = _code("SSP110", "the type of a connector cannot be deduced")
VALUE = _code("SSP111", "a value does not fit")
BINDING = _code("SSP112", "a parameter binding is not as the standard says")
MAPPING = _code("SSP113", "a parameter mapping is not as the standard says")
DICTIONARY = _code("SSP114", "a signal dictionary is missing or not as the standard says")
OWN = _code("SSP115", "an annotation of Softdock's is not as it is written")
DIMENSION = _code("SSP116", "the dimensions of an array are not as the standard says")
TRANSFORMATION = _code("SSP117", "a transformation does not fit")
KIND = _code("SSP118", "a connector is of a kind that its element cannot have")
SOURCE = _code("SSP119", "the source of a component is not as the standard says")
MISMATCH = _code("SSP120", "what a component declares is not what its source has")
NO_CONVERSION = _code("SSP122", "a value has a unit, and its parameter has none")
NAMESPACE = _code("SSP123", "a file has nearly the namespace of SSP")
OWN_PREFIX = _code("SSP124", "a value of a component is named from outside of it")
ITEM = _code("SSP125", "an item of an enumeration is given by its number")
EXPERIMENT = _code("SSP121", "the default experiment is not as the standard says")

COMPONENT_TYPE = _code("SSP201", "components of this type are not supported")
SCHEDULED = _code("SSP202", "ScheduledExecution is not supported")
INDICES = _code("SSP203", "connections of single elements of arrays are not supported")
UNSPECIFIED = _code("SSP204", "the kind 'unspecified' is not supported")
CONTENT_TYPE = _code(
    "SSP205", "parameter sets, mappings, dictionaries of this type are not supported"
)
BUS_VALUES = _code("SSP206", "values of the entries of a bus are not supported")
SCHEME = _code("SSP208", "sources of this scheme are not supported")
TABLE = _code("SSP209", "whole numbers that a table does not have stop the run")
CALCULATED = _code("SSP207", "parameters that are calculated are not passed on")

METADATA = _code("SSP301", "metadata, descriptions, signatures")
GEOMETRY = _code("SSP302", "what is for drawing only")
ANNOTATION = _code("SSP303", "an annotation of another tool")
FOREIGN = _code("SSP304", "elements of other namespaces")
IGNORED = _code("SSP305", "a value that reaches nothing is ignored")
NO_SOURCE = _code("SSP306", "a component without a source is read as an empty system")
DETAIL = _code("SSP307", "a detail of a type that comes from the source")
INNER_EXPERIMENT = _code("SSP308", "the default experiment of a nested system is not used")

#: All of them, in order.
CODES = tuple(found for found in list(globals().values()) if isinstance(found, Code))


class RefusalError(SspError):
    """A problem of a file that has a code, and the clause of the standard if there is one."""


def refusal(code: Code, text: str, clause: str = "", file: str = "") -> RefusalError:
    """Make the error of a problem that has a code."""
    return RefusalError(Diagnostic(code.name, Severity.ERROR, text, file, clause=clause))
