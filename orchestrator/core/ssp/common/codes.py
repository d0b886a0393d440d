"""The codes of what is found in SSP files, whose meanings never change, and findings."""

from __future__ import annotations

import logging
from dataclasses import replace

from lxml import etree

from orchestrator.core.diagnostics import Diagnostic, Severity, SoftdockError, SspError
from orchestrator.core.diagnostics.errors import Code
from orchestrator.core.ssp.common.names import tag
from orchestrator.core.structs import MutableStruct, Struct, field

#: Further text about a code, by its first digit.
_KINDS = {
    "0": "Softdock cannot read the file, the archive, or a file that it refers to.",
    "1": "The file violates the standard. An error means that the intention is unclear; a warning"
    " states how Softdock reads the file.",
    "2": "The standard allows it, but Softdock does not support it.",
    "3": "Softdock reads it, but it has no effect on a run.",
}


def _code(name: str, meaning: str) -> Code:
    return Code(name, meaning, _KINDS[name[3]], severity=None)


UNREADABLE = _code("SSP001", "a file is missing or cannot be read")
ARCHIVE = _code("SSP002", "an archive is damaged, unsafe or too large")
MALFORMED = _code("SSP003", "the XML is malformed, or declares a document type")
ENCODING = _code("SSP004", "the file is not in UTF-8")
ROOT = _code("SSP005", "the root element is not the expected one")
VERSION = _code("SSP006", "the version of SSP is missing or not known")
URI = _code("SSP007", "a source does not name a file in reach")
NESTING = _code("SSP008", "files include each other")
LIMIT = _code("SSP009", "a file exceeds a size or nesting limit")
VARIANT = _code("SSP010", "an archive or folder has no .ssd of this name")
FOREIGN_ZIP = _code("SSP011", "an archive uses a ZIP feature that SSP does not allow")

SCHEMA = _code("SSP101", "the file violates the standard, and its meaning is unclear")
TOLERATED = _code("SSP102", "the file violates the standard, but its meaning is clear")
TAKEN = _code("SSP103", "a name occurs twice")
UNKNOWN_END = _code("SSP104", "a connection ends at an element or connector that does not exist")
UNDECLARED = _code("SSP105", "a connection ends at a connector that is not declared")
KINDS = _code("SSP106", "connectors of these kinds cannot be connected")
NO_UNIT = _code("SSP107", "a unit is not defined in its file")
OTHER_UNIT = _code("SSP108", "the definition of a unit contradicts its name")
NO_ENUMERATION = _code("SSP109", "an enumeration is not defined in its file")
NO_TYPE = _code("SSP110", "the type of a connector cannot be deduced")
VALUE = _code("SSP111", "a value does not fit")
BINDING = _code("SSP112", "a parameter binding violates the standard")
MAPPING = _code("SSP113", "a parameter mapping violates the standard")
DICTIONARY = _code("SSP114", "a signal dictionary is missing or violates the standard")
OWN = _code("SSP115", "an annotation of Softdock is malformed or misplaced")
DIMENSION = _code("SSP116", "the dimensions of an array violate the standard")
TRANSFORMATION = _code("SSP117", "a transformation does not fit its connectors")
KIND = _code("SSP118", "an element cannot have a connector of this kind")
SOURCE = _code("SSP119", "the source of a component violates the standard")
MISMATCH = _code("SSP120", "the declaration of a component differs from its source")
NO_CONVERSION = _code("SSP122", "a value has a unit, but its parameter has none")
NAMESPACE = _code("SSP123", "the namespace of SSP is misspelled or not declared")
OWN_PREFIX = _code("SSP124", "a value of a component is named by a path from outside")
ITEM = _code("SSP125", "an item of an enumeration is given by its number")
EXPERIMENT = _code("SSP121", "the default experiment violates the standard")

COMPONENT_TYPE = _code("SSP201", "components of this type are not supported")
SCHEDULED = _code("SSP202", "ScheduledExecution is not supported")
INDICES = _code("SSP203", "connections of single elements of arrays are not supported")
UNSPECIFIED = _code("SSP204", "the kind 'unspecified' is not supported")
CONTENT_TYPE = _code(
    "SSP205", "parameter sets, mappings or dictionaries of this type are not supported"
)
BUS_VALUES = _code("SSP206", "values of the entries of a bus are not supported")
SCHEME = _code("SSP208", "sources of this scheme are not supported")
TABLE = _code("SSP209", "a table does not map every integer; a run stops at another value")
CALCULATED = _code("SSP207", "the value of a calculated parameter is not passed on")

METADATA = _code("SSP301", "metadata, descriptions and signatures are not used")
GEOMETRY = _code("SSP302", "drawing information is not used")
ANNOTATION = _code("SSP303", "an annotation of another tool is not used")
FOREIGN = _code("SSP304", "elements of other namespaces are not used")
IGNORED = _code("SSP305", "a value matches no parameter and is ignored")
NO_SOURCE = _code("SSP306", "a component without a source is read as an empty system")
DETAIL = _code("SSP307", "a detail of a type is taken from the source")
INNER_EXPERIMENT = _code("SSP308", "the default experiment of a nested system is not used")

#: All of them, in order.
CODES = tuple(found for found in list(globals().values()) if isinstance(found, Code))


class RefusalError(SspError):
    """A problem of a file that has a code, and the clause of the standard if there is one."""


def refusal(code: Code, text: str, clause: str = "", file: str = "") -> RefusalError:
    """Make the error of a problem that has a code."""
    return RefusalError(Diagnostic(code.name, Severity.ERROR, text, file, clause=clause))


logger = logging.getLogger(__name__)

#: What elements that have a name are called.
_NAMED = {
    "ssd:System": "system",
    "ssd:Component": "component",
    "ssd:SignalDictionaryReference": "bus",
    "ssd:Connector": "connector",
    "ssv:Parameter": "parameter",
    "ssb:DictionaryEntry": "entry",
    "ssc:Unit": "unit",
}
#: Of one file, findings beyond this number say nothing new.
_MOST = 1000


ValueKey = tuple[str, int | None, str | None]


class Values(MutableStruct):
    """Values of parameter sets by file, line and name; one set may be bound to several elements."""

    reached: set[ValueKey] = field(default_factory=set)
    unreached: list[tuple[ValueKey, Diagnostic]] = field(default_factory=list)


class Findings(Struct):
    """Collects what is found in one file and in the files that it refers to.

    label: The file as the user knows it; for an entry of an archive
        ``"x.ssp:SystemStructure.ssd"``.
    diagnostics: What has been found.
    values: Which values of files reached something so far, and which did not somewhere.
    strict: Whether a value that reaches nothing (:attr:`.codes.IGNORED`) is refused instead of
        ignored.
    """

    label: str
    diagnostics: list[Diagnostic] = field(default_factory=list)
    values: Values = field(default_factory=Values)
    strict: bool = False

    def for_file(self, label: str) -> Findings:
        """Return findings of another file that end up in the same list."""
        return Findings(label, self.diagnostics, self.values, self.strict)

    def reached(self, element: etree._Element) -> None:
        """Note that the value of an element reached something."""
        self.values.reached.add(self._key(element))

    def unreached(self, value: etree._Element, diagnostic: Diagnostic) -> None:
        """Keep a finding on a value that reached nothing where it was bound, until all is read."""
        self.values.unreached.append((self._key(value), diagnostic))

    def _key(self, value: etree._Element) -> ValueKey:
        line: int | None = value.sourceline  # type: ignore[assignment] # the stubs say ...
        return self.label, line, value.get("name")

    def settle(self) -> None:
        """Add what was kept: a note if the value reached something elsewhere, else a warning.

        Of strict findings both are errors.
        """
        for key, diagnostic_found in self.values.unreached:
            is_used = key in self.values.reached
            severity = Severity.NOTE if is_used and not self.strict else diagnostic_found.severity
            if len(self.diagnostics) < _MOST:
                self.diagnostics.append(replace(diagnostic_found, severity=severity))
        self.values.unreached.clear()

    def error(
        self, code: Code, element: etree._Element | None, text: str, clause: str = ""
    ) -> None:
        """Add what makes the file unusable."""
        self._add(self.diagnostic(Severity.ERROR, code, element, text, clause))

    def warning(
        self, code: Code, element: etree._Element | None, text: str, clause: str = ""
    ) -> None:
        """Add what may not do what its author meant."""
        self._add(self.diagnostic(Severity.WARNING, code, element, text, clause))

    def note(self, code: Code, element: etree._Element | None, text: str, clause: str = "") -> None:
        """Add what is worth knowing."""
        self._add(self.diagnostic(Severity.NOTE, code, element, text, clause))

    def _add(self, diagnostic: Diagnostic) -> None:
        if len(self.diagnostics) >= _MOST and (
            diagnostic.severity is not Severity.ERROR or self.has_errors
        ):
            return
        self.diagnostics.append(diagnostic)

    def diagnostic(
        self, severity: Severity, code: Code, element: etree._Element | None, text: str, clause: str
    ) -> Diagnostic:
        """Make a finding without adding it."""
        line: int | None = None if element is None else element.sourceline  # type: ignore[assignment] # the stubs say ...
        location = "" if element is None else _described(element)
        if self.strict and code is IGNORED:
            severity = Severity.ERROR
        return Diagnostic(code.name, severity, text, self.label, line, location, clause=clause)

    def refused(self, error: SoftdockError, element: etree._Element | None, code: Code) -> None:
        """Add what an error says, of this code or its own; the file need not be said twice."""
        for diagnostic_found in error.diagnostics:
            file = "" if diagnostic_found.file == self.label else diagnostic_found.file
            text = str(replace(diagnostic_found, file=file, clause=""))
            mine = self.diagnostic(Severity.ERROR, code, element, text, diagnostic_found.clause)
            if code is VALUE and self._is_explained(mine):
                continue
            own_code = diagnostic_found.code if isinstance(error, RefusalError) else code.name
            self._add(
                replace(mine, code=own_code, key=diagnostic_found.key, hint=diagnostic_found.hint)
            )

    def _is_explained(self, diagnostic: Diagnostic) -> bool:
        """Whether the schema refuses the same element, which explains why it cannot be read."""
        location = diagnostic.file, diagnostic.line, diagnostic.place
        return any(
            (diagnostic.file, diagnostic.line, diagnostic.place) == location
            for diagnostic in self.diagnostics
            if diagnostic.code == SCHEMA.name and diagnostic.severity is Severity.ERROR
        )

    def guard(self, element: etree._Element | None, code: Code) -> FindingsGuard:
        """Turn errors raised inside into findings about an element, of this code or their own."""
        return FindingsGuard(self, element, code)

    @property
    def has_errors(self) -> bool:
        """Whether the file is unusable."""
        return any(diagnostic.severity is Severity.ERROR for diagnostic in self.diagnostics)

    def close(self) -> None:
        """Raise all errors together as an SspError; log the rest once."""
        errors = [
            diagnostic for diagnostic in self.diagnostics if diagnostic.severity is Severity.ERROR
        ]
        if errors:
            raise SspError(*errors)
        warnings = [
            diagnostic for diagnostic in self.diagnostics if diagnostic.severity is Severity.WARNING
        ]
        if warnings:
            logger.warning("\n".join(f"{diagnostic.code}: {diagnostic}" for diagnostic in warnings))
        lost = [
            diagnostic for diagnostic in self.diagnostics if diagnostic.severity is Severity.NOTE
        ]
        if lost:
            text = "; ".join(
                f"{diagnostic.message} (line {diagnostic.line})" for diagnostic in lost
            )
            logger.info("%s: without a place in the system: %s", self.label, text)


class FindingsGuard:
    """The block of :meth:`Findings.guard`; a class, since there are several to each element."""

    __slots__ = ("_code", "_element", "_findings")

    def __init__(self, findings: Findings, element: etree._Element | None, code: Code) -> None:
        self._findings = findings
        self._element = element
        self._code = code

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> bool:
        if not isinstance(error, SoftdockError):
            return False
        self._findings.refused(error, self._element, self._code)
        return True


def _described(element: etree._Element) -> str:
    words = []
    for node in [*reversed(list(element.iterancestors())), element]:
        parent = node.getparent()
        match tag(node):
            case "ssd:System" if parent is None or tag(parent) != "ssd:Elements":
                pass
            case "ssm:MappingEntry":
                words.append(f"mapping '{node.get('source')}' to '{node.get('target')}'")
            case "ssd:Connection":
                words.append(f"connection {_end(node, 'start')} -> {_end(node, 'end')}")
            case name if name in _NAMED:
                words.append(f"{_NAMED[name]} '{node.get('name')}'")
    return ", ".join(words)


def _end(line: etree._Element, side: str) -> str:
    return ".".join(filter(None, (line.get(f"{side}Element"), line.get(f"{side}Connector"))))
