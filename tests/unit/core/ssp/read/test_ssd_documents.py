"""Which documents are SSDs, and what of them is not kept: other formats, entities, annotations."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from orchestrator.core.ssp import read_ssd

from .conftest import refusal


def test_xsd_problems_have_lines(ssd: Any) -> None:
    text = refusal(
        ssd(
            elements='<ssd:Component nam="b" source="b.fmu"/>\n<ssd:Part/>',
            bindings=ssd.binding('<ssv:Parameter name="a.k"><ssv:Real/></ssv:Parameter>'),
        )
    )
    assert "SystemStructure.ssd:13: component 'None': not valid SSP 1.0" in text
    assert ":14: not valid SSP 1.0, in ssd:Elements: Element 'ssd:Part'" in text
    assert "in ssv:Parameter: Element 'ssv:Real': The attribute 'value' is required" in text
    assert "http://" not in text


def test_other_documents_are_refused(ssd: Any, tmp_path: Path) -> None:
    assert "expected SSP version 1.0 or 2.0, found '3.0'" in refusal(
        ssd(root='version="3.0" name="s"')
    )
    assert "not valid SSP" in refusal(ssd(system=""))
    path = tmp_path / "x.ssd"
    path.write_text("<fmiModelDescription/>")
    assert "expected the root element ssd:SystemStructureDescription" in refusal(path)
    assert "found fmiModelDescription" in refusal(path)
    path.write_text("<a><b></a>")
    assert "malformed XML" in refusal(path)
    path.write_bytes(b"")
    assert "malformed XML" in refusal(path)
    assert "cannot be read: No such file" in refusal(tmp_path / "none.ssd")
    assert "cannot be read" in refusal(tmp_path)


def test_document_types_and_entities_are_refused(ssd: Any, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret text")
    text = ssd().read_text()
    bomb = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    for inside, use in (
        ('<!ENTITY e "v">', "s"),
        ('<!ENTITY e0 "lol">' + bomb, "&e11;"),
        (f'<!ENTITY e SYSTEM "{secret.as_uri()}">', "s"),
    ):
        path = tmp_path / "x.ssd"
        start = f"<!DOCTYPE d [{inside}]>\n<ssd:SystemStructureDescription"
        changed = text.replace("<ssd:SystemStructureDescription", start, 1)
        path.write_text(changed.replace('name="a"', f'name="{use}"'))
        found = refusal(path)
        assert "document type declaration" in found or "malformed XML" in found
        assert "secret text" not in found


def test_what_is_not_kept_is_logged(ssd: Any, caplog: pytest.LogCaptureFixture) -> None:
    geometry = '<ssd:SystemGeometry x1="0" y1="0" x2="1" y2="1"/>'
    note = '<ssc:Annotation type="com.vendor.colour"><x/></ssc:Annotation>'
    path = ssd(
        root='version="1.0" name="other" author="me" generationTool="T"',
        top=f"{geometry}<ssd:Annotations>{note}</ssd:Annotations>",
    )
    with caplog.at_level(logging.INFO):
        read_ssd(path)
    (record,) = caplog.records
    for part in (str(path), "com.vendor.colour", "ssd:SystemGeometry", "author", "'other'"):
        assert part in record.getMessage()


def test_our_files_log_nothing(ssd: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        read_ssd(ssd())
    assert not caplog.records


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("io.softdock.delay", "stands in ssd:System; expected ssd:Connection"),
        ("io.softdock.jitter", "unknown annotation 'io.softdock.jitter'"),
    ],
)
def test_our_annotations_elsewhere_are_refused(ssd: Any, kind: str, expected: str) -> None:
    note = f'<ssd:Annotations><ssc:Annotation type="{kind}"/></ssd:Annotations>'
    assert expected in refusal(ssd(top=note))


def test_comments_are_no_elements(ssd: Any) -> None:
    comment = "<!-- a comment --><?and an instruction?>"
    system = read_ssd(ssd(elements=comment, first=comment, after=comment, top=comment))
    assert list(system.components) == ["a"]
