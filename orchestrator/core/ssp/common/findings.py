"""What is found while a file is read: all of it, with code, file and line."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace

from lxml import etree

from orchestrator.core.diagnostics import Diagnostic, Severity, SoftdockError, SspError
from orchestrator.core.diagnostics.errors import Code
from orchestrator.core.ssp.common import codes
from orchestrator.core.ssp.common.codes import RefusalError
from orchestrator.core.ssp.common.names import tag

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


@dataclass(slots=True)
class Values:
    """Values of parameter sets by file, line and name; one set may be bound to several elements."""

    reached: set[ValueKey] = field(default_factory=set)
    unreached: list[tuple[ValueKey, Diagnostic]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Findings:
    """Collects what is found in one file and in the files that it refers to.

    Parameters
    ----------
    label
        The file as the user knows it; for an entry of an archive ``"x.ssp:SystemStructure.ssd"``.
    diagnostics
        What has been found.
    values
        Which values of files reached something so far, and which did not somewhere.
    strict
        Whether a value that reaches nothing (:attr:`.codes.IGNORED`) is refused instead of ignored.
    """

    label: str
    diagnostics: list[Diagnostic] = field(default_factory=list)
    values: Values = field(default_factory=Values)
    strict: bool = False

    def beside(self, label: str) -> Findings:
        """Return findings of another file that end up in the same list."""
        return Findings(label, self.diagnostics, self.values, self.strict)

    def reached(self, element: etree._Element) -> None:
        """Note that the value of an element reached something."""
        self.values.reached.add(self._key(element))

    def unreached(self, value: etree._Element, found: Diagnostic) -> None:
        """Keep a finding on a value that reached nothing where it was bound, until all is read."""
        self.values.unreached.append((self._key(value), found))

    def _key(self, value: etree._Element) -> ValueKey:
        line: int | None = value.sourceline  # type: ignore[assignment] # the stubs say ...
        return self.label, line, value.get("name")

    def settle(self) -> None:
        """Add what was kept: a note if the value reached something elsewhere, else a warning.

        Of strict findings both are errors.
        """
        for key, found in self.values.unreached:
            is_used = key in self.values.reached
            severity = Severity.NOTE if is_used and not self.strict else found.severity
            if len(self.diagnostics) < _MOST:
                self.diagnostics.append(replace(found, severity=severity))
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

    def _add(self, found: Diagnostic) -> None:
        if len(self.diagnostics) >= _MOST and (
            found.severity is not Severity.ERROR or self.has_errors
        ):
            return
        self.diagnostics.append(found)

    def diagnostic(
        self, severity: Severity, code: Code, element: etree._Element | None, text: str, clause: str
    ) -> Diagnostic:
        """Make a finding without adding it."""
        line: int | None = None if element is None else element.sourceline  # type: ignore[assignment] # the stubs say ...
        where = "" if element is None else _described(element)
        if self.strict and code is codes.IGNORED:
            severity = Severity.ERROR
        return Diagnostic(code.name, severity, text, self.label, line, where, clause=clause)

    def refused(self, error: SoftdockError, element: etree._Element | None, code: Code) -> None:
        """Add what an error says, of this code or its own; the file need not be said twice."""
        for found in error.diagnostics:
            file = "" if found.file == self.label else found.file
            text = str(replace(found, file=file, clause=""))
            mine = self.diagnostic(Severity.ERROR, code, element, text, found.clause)
            own = found.code if isinstance(error, RefusalError) else code.name
            self._add(replace(mine, code=own, key=found.key, hint=found.hint))

    def guard(self, element: etree._Element | None, code: Code) -> Guard:
        """Turn errors raised inside into findings about an element, of this code or their own."""
        return Guard(self, element, code)

    @property
    def has_errors(self) -> bool:
        """Whether the file is unusable."""
        return any(found.severity is Severity.ERROR for found in self.diagnostics)

    def close(self) -> None:
        """Raise all errors together as an SspError; log the rest once."""
        errors = [found for found in self.diagnostics if found.severity is Severity.ERROR]
        if errors:
            raise SspError(*errors)
        warnings = [found for found in self.diagnostics if found.severity is Severity.WARNING]
        if warnings:
            logger.warning("\n".join(f"{found.code}: {found}" for found in warnings))
        lost = [found for found in self.diagnostics if found.severity is Severity.NOTE]
        if lost:
            said = "; ".join(f"{found.message} (line {found.line})" for found in lost)
            logger.info("%s: without a place in the system: %s", self.label, said)


class Guard:
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
        match tag(node):
            case "ssd:System" if not _is_nested(node):
                pass
            case "ssm:MappingEntry":
                words.append(f"mapping '{node.get('source')}' to '{node.get('target')}'")
            case "ssd:Connection":
                words.append(f"connection {_end(node, 'start')} -> {_end(node, 'end')}")
            case name if name in _NAMED:
                words.append(f"{_NAMED[name]} '{node.get('name')}'")
    return ", ".join(words)


def _is_nested(system: etree._Element) -> bool:
    parent = system.getparent()
    return parent is not None and tag(parent) == "ssd:Elements"


def _end(line: etree._Element, side: str) -> str:
    return ".".join(filter(None, (line.get(f"{side}Element"), line.get(f"{side}Connector"))))
