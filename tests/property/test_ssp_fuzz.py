"""Damaged SSP files: one clear error or a system, never a traceback, a hang or a file elsewhere."""

from __future__ import annotations

import io
import random
import re
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestrator.core.diagnostics import Diagnostic, Severity, SoftdockError
from orchestrator.core.ssp import diagnose

#: Something of everything that is read.
WHOLE = (Path(__file__).parents[1] / "fixtures" / "ssp" / "whole.ssd").read_text(encoding="utf-8")
_ATTRIBUTE = re.compile(r'"([^"<>]*)"')
_TAG = re.compile(r"<(/?)([a-z]+:[A-Za-z0-9]+)")
ODD = [
    "",
    "-1",
    "1e999",
    "NaN",
    "9" * 400,
    "x" * 5000,
    "../../etc/passwd",
    "true",
    "0",
    "\u202e",
    "a.b/c%2E",
    "#top",
]


def told(path: Path) -> tuple[bool, list[Diagnostic]]:
    """Diagnose a file; a system has no errors, and no system has some."""
    system, found = diagnose(path)
    errors = [each for each in found if each.severity is Severity.ERROR]
    assert (system is None) == bool(errors)
    assert all(re.fullmatch(r"SSP[0-3]\d\d", each.code) and each.message for each in found)
    if system is not None:
        with suppress(SoftdockError):
            system.flat()
    return system is not None, found


def test_the_whole_is_sound(tmp_path: Path) -> None:
    path = tmp_path / "whole.ssd"
    path.write_text(WHOLE, encoding="utf-8")
    system, found = told(path)
    assert system
    assert {each.code for each in found} == {"SSP301"}  # its ids


@settings(
    deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(seed=st.integers(0, 2**32), kind=st.sampled_from(["value", "tag", "drop", "twice", "byte"]))
def test_damaged_texts(seed: int, kind: str, tmp_path: Path) -> None:
    chance = random.Random(seed)  # noqa: S311 - of a test
    text = WHOLE
    match kind:
        case "value":
            places = list(_ATTRIBUTE.finditer(text))[9:]
            one = chance.choice(places)
            other = chance.choice([*ODD, chance.choice(places)[1]])
            text = text[: one.start(1)] + other + text[one.end(1) :]
        case "tag":
            old, new = (chance.choice(_TAG.findall(text))[1] for _ in range(2))
            text = re.sub(rf"(</?){old}\b", rf"\g<1>{new}", text)
        case "drop" | "twice":
            lines = text.split("\n")
            at = chance.randrange(2, len(lines))
            lines[at : at + 1] = [lines[at]] * (2 if kind == "twice" else 0)
            text = "\n".join(lines)
    content = bytearray(text.encode())
    if kind == "byte":
        content[chance.randrange(len(content))] = chance.randrange(256)
    path = tmp_path / "x.ssd"
    path.write_bytes(bytes(content))
    told(path)


@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(seed=st.integers(0, 2**32))
def test_damaged_archives(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)  # noqa: S311 - of a test
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("SystemStructure.ssd", WHOLE)
    content = bytearray(buffer.getvalue())
    for _ in range(chance.randrange(1, 4)):
        content[chance.randrange(len(content))] = chance.randrange(256)
    path = tmp_path / "x.ssp"
    path.write_bytes(
        bytes(content[: chance.choice([len(content), chance.randrange(len(content))])])
    )
    told(path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.ssp"]


@pytest.mark.parametrize(
    "entry", ["../out.txt", "/out.txt", "a/../../out.txt", "c:/out.txt", "..\\out.txt"]
)
def test_entries_that_would_be_written_elsewhere(entry: str, tmp_path: Path) -> None:
    path = tmp_path / "inner" / "x.ssp"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("SystemStructure.ssd", WHOLE)
        archive.writestr(entry, "out")
    sound, found = told(path)
    assert not sound
    assert [each.code for each in found] == ["SSP002"]
    assert not list(tmp_path.rglob("out.txt"))


def test_links_and_repeated_names(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("resources/link")
    link.external_attr = 0o120777 << 16
    path = tmp_path / "x.ssp"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("SystemStructure.ssd", WHOLE)
        archive.writestr(link, "/etc/passwd")
    assert [each.code for each in told(path)[1]] == ["SSP002"]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("SystemStructure.ssd", WHOLE)
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("SystemStructure.ssd", "<other/>")
    (found,) = told(path)[1]
    assert (found.code, "more than once" in found.message) == ("SSP002", True)
