"""What is told without raising: codes, severities, files, lines; what is clear though not valid."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from orchestrator.core.diagnostics import Severity
from orchestrator.core.ssp import diagnose
from orchestrator.core.ssp.common.codes import CODES

PAGE = Path(__file__).parents[5] / "docs" / "reference" / "ssp.md"


def codes(path: Path) -> list[str]:
    return [each.code for each in diagnose(path)[1]]


def test_a_sound_file_has_no_findings(ssd: Any) -> None:
    system, found = diagnose(ssd())
    assert system is not None
    assert found == []


def test_errors_have_a_code_a_line_and_a_clause(ssd: Any) -> None:
    line = '<ssd:Connection startElement="z" startConnector="x" endElement="a" endConnector="u"/>'
    path = ssd(connections=line)
    system, found = diagnose(path)
    assert system is None
    (error,) = found
    assert (error.code, error.severity, error.line) == ("SSP104", Severity.ERROR, 15)
    assert error.file == str(path)
    assert error.place == "connection z.x -> a.u"
    assert error.clause == "SSP 2.0, 5.3.2"


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({"root": 'version="1.0" name="s" color="red"'}, "SSP102"),
        ({"system": 'name="s" id="1 2"'}, "SSP102"),
        ({"root": 'name="s"'}, "SSP102"),
        ({"root": 'version="1.0.1" name="s"'}, "SSP006"),
        ({"top": "<ssd:Connections/>"}, "SSP102"),
        ({"top": "<ssd:Connectors/>"}, "SSP102"),
        ({"top": '<ssd:SystemGeometry x1="left" y1="0" x2="1" y2="1"/>'}, "SSP302"),
        ({"after": '<x:y xmlns:x="urn:x"/>'}, "SSP304"),
        ({"units": False}, "SSP107"),
    ],
)
def test_what_is_clear_although_not_valid(ssd: Any, parts: dict[str, Any], expected: str) -> None:
    path = ssd(**parts)
    system, found = diagnose(path)
    assert system is not None, found
    assert list(system.components) == ["a"]
    assert expected in codes(path)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    assert codes(tmp_path / "none.ssd") == ["SSP001"]
    assert codes(tmp_path) == ["SSP010"]
    bad = tmp_path / "bad.ssp"
    bad.write_bytes(b"PK no archive")
    assert codes(bad) == ["SSP002"]
    file = tmp_path / "x.ssd"
    file.write_bytes(b"<a>")
    assert codes(file) == ["SSP003"]
    file.write_bytes(b"<a/>")
    assert codes(file) == ["SSP005"]


def test_other_encodings(ssd: Any) -> None:
    path = ssd()
    text = path.read_text().replace('encoding="UTF-8"', 'encoding="ISO-8859-1"')
    named = text.replace('<ssd:System name="s"', '<ssd:System name="s" description="\xe4"')
    path.write_bytes(named.encode("latin-1"))
    system, found = diagnose(path)
    assert system is not None
    assert system.description == "ä"
    assert [each.code for each in found] == ["SSP004"]
    path.write_bytes(path.read_bytes().replace(b"ISO-8859-1", b"UTF-8"))
    assert codes(path) == ["SSP003"]


def test_nearly_the_namespace(ssd: Any) -> None:
    path = ssd(bindings='<ssd:ParameterBinding source="set.ssv"/>')
    values = ssd.values(ssd.real("a.k", 2.0))
    odd = values.replace("SystemStructureParameterValues", "ParameterValues")
    (path.parent / "set.ssv").write_text(odd)
    system, found = diagnose(path)
    assert system is not None
    assert system.component("a").values == {"k": 2.0}
    assert [each.code for each in found] == ["SSP123"]
    assert diagnose(path) == (system, found)  # not of what the first reading mended


def test_prefixes_that_no_file_declares(ssd: Any) -> None:
    path = ssd(bindings='<ssd:ParameterBinding source="set.ssv"/>')
    values = ssd.values(ssd.real("a.k", 2.0))
    (path.parent / "set.ssv").write_text(re.sub(r' xmlns:ssv="[^"]*"', "", values))
    foreign = '<ssc:Annotation type="org.other"><osp:Step osp:base="0.01"/></ssc:Annotation>'
    text = path.read_text()
    end = "</ssd:SystemStructureDescription>"
    path.write_text(text.replace(end, f"<ssd:Annotations>{foreign}</ssd:Annotations>{end}"))
    system, found = diagnose(path)
    assert system is not None
    assert system.component("a").values == {"k": 2.0}
    told = {each.message for each in found if each.code == "SSP123"}
    assert told == {"the prefix 'osp' is not declared", "the prefix 'ssv' is not declared"}


def test_every_code_is_in_the_reference() -> None:
    listed = dict(re.findall(r"^\| `(SSP\d+)` \| (.*) \|$", PAGE.read_text(), re.MULTILINE))
    assert listed == {code.name: code.title for code in CODES}
