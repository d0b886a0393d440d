"""What the pages for contributors name exists: files, folders, rooms."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
PAGES = [CONTRIBUTING, *sorted(ROOT.glob("docs/architecture*/*.md")), ROOT / "docs/architecture.md"]
FENCE = re.compile(r"^ *```.*?^ *```", re.DOTALL | re.MULTILINE)
#: A path in backticks: with a folder, or a file of Python, C or C++.
PATH = re.compile(r"`([\w.*/-]+/[\w.*/-]*|[\w*]+\.(?:py|cpp|hpp|c|h|\*))`")
#: Where the pages' short paths begin.
ROOMS = ["", "orchestrator", "orchestrator/engine/src", "orchestrator/export"]
#: Where files are Python of ours, and how long one may be.
CODE = ("orchestrator", "python_blocks", "hw_adapters", "examples", "benchmarks", "tests")
LONGEST = 500
#: What is in no checkout: what a reader of the steps writes, what is built; paths within a system.
MADE = {
    "arm/motor",
    "build/site/index.html",
    "build/mistakes",
    "build/test-cache",
    "functions.c",
    "benchmarks/NAME.py",
    "docs/reference/devices/NAME.md",
    "hw_adapters/NAME/",
    "model.h",
    "orchestrator/export/NAME.py",
    "orchestrator/core/recording/json_lines.py",
    "python_blocks/contact/depth_damper.py",
    "tests/unit/export/NAME/",
}


def paths(page):
    return sorted(set(PATH.findall(FENCE.sub("", page.read_text()))) - MADE)


def exists(path):
    if "/" in path:
        return any(any(ROOT.glob(f"{room}/{path}".strip("/"))) for room in ROOMS)
    return any(
        any(ROOT.glob(f"{top}/**/{path}"))
        for top in ("orchestrator", "python_blocks", "hw_adapters", "tests")
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_names_exists(page):
    assert [path for path in paths(page) if not exists(path)] == []


def test_a_file_has_one_noun():
    """One that is longer has two: divide it."""
    files = [file for folder in CODE for file in ROOT.glob(f"{folder}/**/*.py")]
    files = [file for file in files if "vendor" not in file.parts]  # written by others
    lengths = {str(file.relative_to(ROOT)): len(file.read_text().splitlines()) for file in files}
    assert {file for file, length in lengths.items() if length > LONGEST} == set()


def test_the_layout_has_every_room():
    assert _listed("  ") == _rooms("orchestrator")
    assert _listed("    ") == _rooms("orchestrator/core")
    for top in _listed(""):
        assert (ROOT / top).is_dir()


def _listed(indent):
    """Return the folders of the layout's tree that stand at an indent, without those of tests."""
    tree = FENCE.search(CONTRIBUTING.read_text().split("## Layout")[1])[0].split("\ntests/")[0]
    return set(re.findall(rf"^{indent}(\w+)/", tree, re.MULTILINE))


def _rooms(folder):
    return {path.parent.name for path in ROOT.glob(f"{folder}/*/__init__.py")}


def test_the_layout_has_every_room_within_a_room():
    tree = FENCE.search(CONTRIBUTING.read_text().split("## Layout")[1])[0]
    of_core = ("master", "simunits", "ssp", "system")
    rooms = ("checks", "cli", "dcp", "export", "loops", "pictures", "rig", "study", "author")
    for room in (*rooms, *(f"core/{name}" for name in of_core), "engine/src"):
        name = room.removeprefix("core/")
        line = re.search(rf"^ +{name}/ +(.*)$", tree, re.MULTILINE)[1]
        words = set(re.findall(r"\w+", line))
        inner = {
            path.name
            for path in (ROOT / "orchestrator" / room).iterdir()
            if (path / "__init__.py").is_file() or (room == "engine/src" and path.is_dir())
        }
        assert inner <= words, room


def test_the_layers_are_those_that_are_held():
    """Two tables: of the rooms, and of those within the core."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    held = [
        contract["layers"]
        for contract in project["tool"]["importlinter"]["contracts"]
        if contract.get("containers") in (["orchestrator"], ["orchestrator.core"])
    ]
    page = (ROOT / "docs/architecture.md").read_text().split("## Layers")[1].split("\n### ")[0]
    tables = page.split("Within `core`:")
    for table, layers in zip(tables, held, strict=True):
        rows = re.findall(r"^\| (`.*?`) \|", table, re.MULTILINE)
        assert [set(re.findall(r"\w+", row)) for row in rows] == [
            set(re.findall(r"\w+", layer)) for layer in layers
        ]
