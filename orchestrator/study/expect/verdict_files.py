"""Verdicts as JUnit XML, which every CI reads, and as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from orchestrator.core.recording import whole_file
from orchestrator.study.expect.verdict import Verdict
from orchestrator.study.measure.outcome import JUNIT, VERDICTS

#: What XML 1.0 has no place for.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
Suites = Mapping[str, Sequence[Verdict]]


def write_junit(title: str, suites: Suites, path: Path) -> None:
    """Write verdicts as JUnit XML: a suite for each case or sweep, a test for each verdict."""
    root = ET.Element("testsuites", _suite(title, _all(suites)))
    for name, verdicts in suites.items():
        suite = ET.SubElement(root, "testsuite", _suite(name, verdicts))
        for one in verdicts:
            place = {"classname": one.where or name, "name": f"{one.name}: {one.that}"}
            test = ET.SubElement(
                suite, "testcase", {key: _plain(text) for key, text in place.items()}
            )
            if one.requirement:
                listed = ET.SubElement(test, "properties")
                given = {"name": "requirement", "value": _plain(one.requirement)}
                ET.SubElement(listed, "property", given)
            if not one.passed:
                said = f"expected {one.that}, found {one.found}"
                ET.SubElement(test, "failure", message=_plain(said)).text = _plain(str(one))
    ET.indent(root)
    with whole_file(path) as draft:
        ET.ElementTree(root).write(draft, encoding="utf-8", xml_declaration=True)


def write_json(title: str, suites: Suites, path: Path) -> None:
    """Write verdicts as JSON."""
    listed = {name: [one.as_json() for one in verdicts] for name, verdicts in suites.items()}
    passed = all(one.passed for one in _all(suites))
    content = {"title": title, "passed": passed, "verdicts": listed}
    with whole_file(path) as draft:
        draft.write_text(json.dumps(content, indent=2, allow_nan=False) + "\n", encoding="utf-8")


#: The files by their names.
FILES = {JUNIT: write_junit, VERDICTS: write_json}


def _all(suites: Suites) -> list[Verdict]:
    return [one for verdicts in suites.values() for one in verdicts]


def _suite(name: str, verdicts: Sequence[Verdict]) -> dict[str, str]:
    failed = sum(not one.passed for one in verdicts)
    counts = {"tests": str(len(verdicts)), "failures": str(failed), "errors": "0"}
    return {"name": _plain(name), **counts}


def _plain(text: str) -> str:
    return _NO_XML.sub("?", text)
