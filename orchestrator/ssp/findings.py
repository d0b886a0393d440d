"""What is found while a file is read: all of it, with code, file and line."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from lxml import etree

from orchestrator.diagnostic import Diagnostic, Severity
from orchestrator.errors import DescriptionError, SoftdockError, SspError
from orchestrator.ssp.codes import Code, RefusalError
from orchestrator.ssp.names import tag

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


@dataclass(frozen=True, slots=True)
class Findings:
    """Collects what is found in one file and in the files that it refers to.

    Parameters
    ----------
    label
        The file as the user knows it; for an entry of an archive ``"x.ssp:SystemStructure.ssd"``.
    diagnostics
        What has been found.
    """

    label: str
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def beside(self, label: str) -> Findings:
        """Return findings of another file that end up in the same list."""
        return Findings(label, self.diagnostics)

    def error(
        self, code: Code, element: etree._Element | None, text: str, clause: str = ""
    ) -> None:
        """Add what makes the file unusable."""
        self._add(Severity.ERROR, code, element, text, clause)

    def warning(
        self, code: Code, element: etree._Element | None, text: str, clause: str = ""
    ) -> None:
        """Add what may not do what its author meant."""
        self._add(Severity.WARNING, code, element, text, clause)

    def note(self, code: Code, element: etree._Element | None, text: str, clause: str = "") -> None:
        """Add what is worth knowing."""
        self._add(Severity.NOTE, code, element, text, clause)

    def _add(
        self, severity: Severity, code: Code, element: etree._Element | None, text: str, clause: str
    ) -> None:
        if len(self.diagnostics) >= _MOST and (severity is not Severity.ERROR or self.has_errors):
            return
        line: int | None = None if element is None else element.sourceline  # type: ignore[assignment] # the stubs say ...
        where = "" if element is None else _described(element)
        self.diagnostics.append(
            Diagnostic(str(code), severity, text, self.label, line, where, clause)
        )

    @contextmanager
    def guard(self, element: etree._Element | None, code: Code) -> Iterator[None]:
        """Turn errors raised inside into findings about an element, of this code or their own."""
        try:
            yield
        except RefusalError as refusal:
            self.error(refusal.code, element, str(refusal), refusal.clause)
        except DescriptionError as error:
            for text in error.problems:
                self.error(code, element, text)
        except SoftdockError as error:
            self.error(code, element, str(error))

    @property
    def has_errors(self) -> bool:
        """Whether the file is unusable."""
        return any(found.severity is Severity.ERROR for found in self.diagnostics)

    def close(self) -> None:
        """Raise all errors together as an SspError; log the rest once."""
        errors = [found for found in self.diagnostics if found.severity is Severity.ERROR]
        if errors:
            raise SspError("\n".join(map(str, errors)))
        warnings = [found for found in self.diagnostics if found.severity is Severity.WARNING]
        if warnings:
            logger.warning("\n".join(f"{found.code}: {found}" for found in warnings))
        lost = [found for found in self.diagnostics if found.severity is Severity.NOTE]
        if lost:
            said = "; ".join(f"{found.message} (line {found.line})" for found in lost)
            logger.info("%s: without a place in the system: %s", self.label, said)


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
