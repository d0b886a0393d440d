"""The reading of model descriptions without FMPy against FMPy: equal, or left to it."""

import io
import zipfile
from copy import deepcopy
from pathlib import Path
from random import Random

import attrs
import pytest
from fmpy.model_description import read_model_description
from lxml import etree

from orchestrator.core.simunits.fmi.clean_description import Part, read_clean

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


def by_fmpy(description: bytes, build: bytes | None):
    """What FMPy reads; ``None`` if it refuses."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("modelDescription.xml", description)
        if build is not None:
            archive.writestr(BUILD, build)
    stream.seek(0)
    try:
        return read_model_description(stream)
    except Exception:  # noqa: BLE001 - FMPy raises plain Exception
        return None


def expect_equal(ours, fmpys, where="description", seen=None):
    """All fields are equal; those that refer to each other are followed once."""
    seen = set() if seen is None else seen
    if isinstance(ours, Part):
        if (id(ours), id(fmpys)) in seen:
            return
        seen.add((id(ours), id(fmpys)))
        fields = {field.name for field in attrs.fields(type(fmpys))} - {"_python_type"}
        fields |= {"guid"} if "instantiationToken" in fields else set()
        assert set(vars(ours)) == fields, where
        for name in fields:
            expect_equal(getattr(ours, name), getattr(fmpys, name), f"{where}.{name}", seen)
        return
    assert type(ours) is type(fmpys), where
    if isinstance(ours, (list, tuple)):
        assert len(ours) == len(fmpys), where
        for i, (a, b) in enumerate(zip(ours, fmpys, strict=True)):
            expect_equal(a, b, f"{where}[{i}]", seen)
    else:
        assert ours == fmpys, where


def compare(description: bytes, build: bytes | None = None) -> bool:
    """Expect the same of both; return whether it was read."""
    root = etree.fromstring(description)
    version = VERSIONS.get(root.get("fmiVersion", "")[:3])
    if version is None:
        return False
    ours = read_clean(root, version, build)
    if ours is None:
        return False
    fmpys = by_fmpy(description, build)
    assert fmpys is not None, "FMPy refuses what was read as sound"
    expect_equal(ours, fmpys)
    return True


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
def test_changed_descriptions_are_equal_or_left_to_fmpy(path):
    random = Random(path.stem)  # noqa: S311
    root = etree.fromstring(path.read_bytes())
    read = [compare(etree.tostring(_changed(root, random))) for _ in range(60)]
    assert any(read)
    assert not all(read)


def test_a_description_without_variables_is_left_to_fmpy():
    root = etree.fromstring((FIXTURES / "c_fmus" / "slave1.xml").read_bytes())
    root.remove(root.find("ModelVariables"))
    assert not compare(etree.tostring(root))


def test_a_sound_description_is_not_left_to_fmpy(make_fmu, monkeypatch):
    from orchestrator.core.simunits import read_fmu
    from orchestrator.core.simunits.fmi import model_description

    monkeypatch.setattr(model_description, "read_model_description", None)
    assert read_fmu(make_fmu(name="Sound")).version == 2
