"""What is found wrong or not kept while a file is read: all of it, with file and line."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from lxml import etree

from orchestrator.errors import SoftdockError, SspError
from orchestrator.ssp.names import tag

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Findings:
    """Collects the problems of one file and of the files that it refers to.

    Parameters
    ----------
    label
        The file as the user knows it; for an entry of an archive ``"x.ssp:SystemStructure.ssd"``.
    problems
        What makes the file unusable.
    notes
        What is read but has no place in a system, so it is lost when the system is written again.
    """

    label: str
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def beside(self, label: str) -> Findings:
        """Return findings of another file that end up in the same lists."""
        return Findings(label, self.problems, self.notes)

    def at(self, element: etree._Element) -> str:
        """Say where an element is: file, line, component, connector."""
        return ": ".join(filter(None, (f"{self.label}:{element.sourceline}", _described(element))))

    def problem(self, element: etree._Element, text: str) -> None:
        """Add a problem."""
        self.problems.append(f"{self.at(element)}: {text}")

    def note(self, element: etree._Element, what: str) -> None:
        """Add something that is not kept."""
        self.notes.append(f"{what} (line {element.sourceline})")

    @contextmanager
    def guard(self, element: etree._Element) -> Iterator[None]:
        """Turn errors raised inside into problems of an element."""
        try:
            yield
        except SoftdockError as error:
            self.problem(element, str(error))

    def close(self) -> None:
        """Raise all problems together as an SspError; log what is not kept."""
        if self.problems:
            raise SspError("\n".join(self.problems))
        if self.notes:
            logger.warning(
                "%s: not kept when the system is written again: %s",
                self.label,
                "; ".join(self.notes),
            )


def _described(element: etree._Element) -> str:
    words = []
    for node in [*reversed(list(element.iterancestors())), element]:
        match tag(node):
            case "ssd:Component":
                words.append(f"component '{node.get('name')}'")
            case "ssd:Connector":
                words.append(f"connector '{node.get('name')}'")
            case "ssv:Parameter":
                words.append(f"parameter '{node.get('name')}'")
            case "ssc:Unit":
                words.append(f"unit '{node.get('name')}'")
            case "ssd:Connection":
                words.append(f"connection {_end(node, 'start')} -> {_end(node, 'end')}")
    return ", ".join(words)


def _end(line: etree._Element, side: str) -> str:
    return ".".join(filter(None, (line.get(f"{side}Element"), line.get(f"{side}Connector"))))
