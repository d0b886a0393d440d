"""The reading of model descriptions against FMPy's."""

import io
import sys
import zipfile
from copy import deepcopy
from dataclasses import fields, is_dataclass
from pathlib import Path
from random import Random

import attrs
import pytest
from fmpy.model_description import read_model_description as fmpys_description
from lxml import etree

from orchestrator.core.diagnostics import FmuError
from orchestrator.core.simunits.fmi.model_description import (
    name_and_extent_faults,
    read_model_description,
)

FIXTURES = Path(__file__).parents[1] / "fixtures"
SOURCES = sorted(
    [*(FIXTURES / "c_fmus").glob("*.xml"), FIXTURES / "probe" / "modelDescription.xml"]
)
BUILD = "sources/buildDescription.xml"
#: What attributes are changed into: numbers, words of the standard, and what is none of both.
TEXTS = (
    *("", " ", "0", "1", "2", "17", "-1", "1.5", "true", "false", "nan", "N", "m", "rad", "nobody"),
    *("input", "output", "parameter", "local", "independent", "calculatedParameter"),
    *("fixed", "tunable", "discrete", "continuous", "constant", "exact", "approx", "calculated"),
    *("1 2", "1  2", "dependent", "fixed fixed"),
)
VERSIONS = {"1.0": 1, "2.0": 2, "3.0": 3}


def by_fmpy(description: bytes, build: bytes | None, *, validate: bool = True):
    """What FMPy reads; ``None`` if it refuses."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("modelDescription.xml", description)
        if build is not None:
            archive.writestr(BUILD, build)
    stream.seek(0)
    try:
        return fmpys_description(stream, validate=validate)
    except Exception:  # noqa: BLE001 - FMPy raises plain Exception
        return None


def expect_equal(ours, fmpys, where="description", seen=None):
    """All fields that both have are equal; those that refer to each other are followed once."""
    seen = set() if seen is None else seen
    if is_dataclass(ours):
        if (id(ours), id(fmpys)) in seen:
            return
        seen.add((id(ours), id(fmpys)))
        both = {field.name for field in fields(ours)} & {
            field.name for field in attrs.fields(type(fmpys))
        }
        assert both, where
        for name in both:
            expect_equal(getattr(ours, name), getattr(fmpys, name), f"{where}.{name}", seen)
    elif isinstance(fmpys, (list, tuple)):
        assert len(ours) == len(fmpys), where
        for i, (a, b) in enumerate(zip(ours, fmpys, strict=True)):
            expect_equal(a, b, f"{where}[{i}]", seen)
    else:
        assert (type(ours), ours) == (type(fmpys), fmpys), where


def compare(description: bytes, build: bytes | None = None) -> bool:
    """Expect the same of both; return whether it keeps the rules."""
    root = etree.fromstring(description)
    version = VERSIONS.get(root.get("fmiVersion", "")[:3])
    if version is None or list(name_and_extent_faults(root)):
        return False
    try:
        ours = read_model_description(Path("some.fmu"), root, version, build)
    except FmuError:
        assert by_fmpy(description, build) is None, "FMPy reads what was refused"
        return False
    is_sound = not ours.flaws and not ours.faults
    fmpys = by_fmpy(description, build)
    if is_sound:
        assert fmpys is not None, "FMPy refuses what was read as sound"
        expect_equal(ours.described, fmpys)
    elif not ours.faults and (fmpys := by_fmpy(description, None, validate=False)) is not None:
        expect_alike(ours.described, fmpys)
    return is_sound


def expect_alike(ours, fmpys):
    """What breaks rules is read as by FMPy that does not validate, but for shared names."""
    names = ("name", "valueReference", "type", "causality", "start")
    found, theirs = (
        {
            tuple(getattr(modelVariable, name) for name in names)
            for modelVariable in read.modelVariables
        }
        for read in (ours, fmpys)
    )
    assert found <= theirs
    assert {one[0] for one in found} == {one[0] for one in theirs}
    for name in ("modelName", "guid", "numberOfEventIndicators"):
        assert (getattr(ours, name) or None) == (getattr(fmpys, name) or None), name


def test_descriptions_of_the_plants_are_equal(plants):
    found = sorted(plants.glob("*.fmu"))
    assert found
    for path in found:
        with zipfile.ZipFile(path) as archive:
            build = archive.read(BUILD) if BUILD in archive.namelist() else None
            assert compare(archive.read("modelDescription.xml"), build), path


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_descriptions_of_test_fmus_are_equal(path):
    description = path.read_bytes()
    assert compare(description) == (by_fmpy(description, None) is not None)


def _changed(root: etree._Element, random: Random) -> etree._Element:
    changed = deepcopy(root)
    for _ in range(random.randint(1, 2)):
        element = random.choice(list(changed.iter(etree.Element)))
        names = sorted(element.attrib)
        how = random.randrange(6)
        if how == 0 and names:
            del element.attrib[random.choice(names)]
        elif how == 1 and element.getparent() is not None:
            element.getparent().append(deepcopy(element))
        elif how == 2 and element.getparent() is not None:
            element.getparent().remove(element)
        elif how == 3:
            other = random.choice(list(changed.iter(etree.Element)))
            for name in list(other.attrib)[:1]:
                element.set(name, other.get(name))
        elif names:
            element.set(random.choice(names), random.choice(TEXTS))
    return changed


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_changed_descriptions_are_equal_and_flawed_ones_alike(path):
    random = Random(path.stem)  # noqa: S311
    root = etree.fromstring(path.read_bytes())
    read = [compare(etree.tostring(_changed(root, random))) for _ in range(60)]
    assert any(read)
    assert not all(read)


def test_a_description_without_variables_is_flawed():
    root = etree.fromstring((FIXTURES / "c_fmus" / "slave1.xml").read_bytes())
    root.remove(root.find("ModelVariables"))
    assert not compare(etree.tostring(root))


@pytest.mark.parametrize("change", [lambda text: text, lambda text: text.replace('"N"', '"X"')])
def test_no_description_is_read_by_fmpy(make_fmu, monkeypatch, change):
    from orchestrator.core.simunits import read_fmu

    monkeypatch.setitem(sys.modules, "fmpy.model_description", None)
    assert read_fmu(make_fmu(change, name="Any")).version == 2
