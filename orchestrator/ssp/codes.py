"""The codes of what is found in SSP files. Their meanings never change; new ones are added."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from orchestrator.errors import SspError


class Code(StrEnum):
    """Code of a finding, and its meaning in a line."""

    meaning: str

    def __new__(cls, value: str, meaning: str) -> Self:
        """Make a code with its meaning."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member

    UNREADABLE = "SSP001", "a file is missing or cannot be read"
    ARCHIVE = "SSP002", "an archive is damaged, unsafe or too large"
    MALFORMED = "SSP003", "the XML is malformed, or declares a document type"
    ENCODING = "SSP004", "the file is not in UTF-8"
    ROOT = "SSP005", "the root element is not the expected one"
    VERSION = "SSP006", "the version of SSP is missing or not known"
    URI = "SSP007", "a source is no URI of a file in reach"
    NESTING = "SSP008", "files contain each other"
    LIMIT = "SSP009", "more or deeper than any honest file"
    VARIANT = "SSP010", "there is no such .ssd in an archive or a folder"
    FOREIGN_ZIP = "SSP011", "the archive uses what SSP does not allow"

    SCHEMA = "SSP101", "not valid, and what is meant cannot be told"
    TOLERATED = "SSP102", "not valid, but what is meant can be told"
    TAKEN = "SSP103", "a name is given twice"
    UNKNOWN_END = "SSP104", "a connection ends at nothing"
    UNDECLARED = "SSP105", "a connection ends at a connector that is not declared"
    KINDS = "SSP106", "connectors of these kinds may not be connected"
    NO_UNIT = "SSP107", "a unit is not defined in its file"
    OTHER_UNIT = "SSP108", "a unit is defined otherwise than its name says"
    NO_ENUMERATION = "SSP109", "an enumeration is not defined in its file"
    NO_TYPE = "SSP110", "the type of a connector cannot be deduced"
    VALUE = "SSP111", "a value does not fit"
    BINDING = "SSP112", "a parameter binding is not as the standard says"
    MAPPING = "SSP113", "a parameter mapping is not as the standard says"
    DICTIONARY = "SSP114", "a signal dictionary is missing or not as the standard says"
    OWN = "SSP115", "an annotation of Softdock's is not as it is written"
    DIMENSION = "SSP116", "the dimensions of an array are not as the standard says"
    TRANSFORMATION = "SSP117", "a transformation does not fit"
    KIND = "SSP118", "a connector is of a kind that its element cannot have"
    SOURCE = "SSP119", "the source of a component is not as the standard says"
    MISMATCH = "SSP120", "what a component declares is not what its source has"
    NO_CONVERSION = "SSP122", "a value has a unit, and its parameter has none"
    NAMESPACE = "SSP123", "a file has nearly the namespace of SSP"
    OWN_PREFIX = "SSP124", "a value of a component is named from outside of it"
    ITEM = "SSP125", "an item of an enumeration is given by its number"
    EXPERIMENT = "SSP121", "the default experiment is not as the standard says"

    COMPONENT_TYPE = "SSP201", "components of this type are not supported"
    SCHEDULED = "SSP202", "ScheduledExecution is not supported"
    INDICES = "SSP203", "connections of single elements of arrays are not supported"
    UNSPECIFIED = "SSP204", "the kind 'unspecified' is not supported"
    CONTENT_TYPE = "SSP205", "parameter sets, mappings, dictionaries of this type are not supported"
    BUS_VALUES = "SSP206", "values of the entries of a bus are not supported"
    SCHEME = "SSP208", "sources of this scheme are not supported"
    TABLE = "SSP209", "whole numbers that a table does not have stop the run"
    CALCULATED = "SSP207", "parameters that are calculated are not passed on"

    METADATA = "SSP301", "metadata, descriptions, signatures"
    GEOMETRY = "SSP302", "what is for drawing only"
    ANNOTATION = "SSP303", "an annotation of another tool"
    FOREIGN = "SSP304", "elements of other namespaces"
    IGNORED = "SSP305", "a value that reaches nothing is ignored"
    NO_SOURCE = "SSP306", "a component without a source is read as an empty system"
    DETAIL = "SSP307", "a detail of a type that comes from the source"
    INNER_EXPERIMENT = "SSP308", "the default experiment of a nested system is not used"


class RefusalError(SspError):
    """A problem of a file that has a code, and the clause of the standard if there is one."""

    def __init__(self, code: Code, text: str, clause: str = "") -> None:
        self.code = code
        self.clause = clause
        super().__init__(text)
