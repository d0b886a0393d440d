"""Rooms of the engine's sources, and which of them may include which."""

import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import orchestrator

SOURCES = Path(orchestrator.__file__).parent / "engine" / "src"
#: Headers in C that generated FMUs have too.
SHARED = {"runtime": Path(orchestrator.__file__).parent / "export"}

#: What the files of a room may include beside those of their own.
MAY_INCLUDE = {
    "core": set(),
    "algorithms": {"core"},
    "events": {"core", "algorithms"},
    "posix": {"core"},
    "isolation": {"core", "posix"},
    "devices": {"core", "pacing", "posix"},
    "pacing": {"core", "posix"},
    "run": {"core", "algorithms", "events", "pacing", "posix"},
    "integration": {"core", "runtime"},
    "fmi": {"core", "integration", "runtime"},
    "windows_host": {"fmi", "runtime"},
    "exported": {"core", "integration", "fmi", "algorithms", "events", "run", "runtime"},
    "bindings": {"core", "integration", "fmi", "isolation", "devices", "pacing", "posix", "run"},
}
FILES = sorted(SOURCES.rglob("*.[ch]pp"))


def includes(file: Path) -> set[str]:
    return set(re.findall(r'^#include "([^"]+)"', file.read_text(), re.MULTILINE))


def name(file: Path) -> str:
    return file.relative_to(SOURCES).as_posix()


def test_every_room_is_in_the_table():
    assert {name(file).split("/")[0] for file in FILES} == set(MAY_INCLUDE)


@pytest.mark.parametrize("file", FILES, ids=name)
def test_a_file_includes_what_its_room_may(file):
    room = name(file).split("/")[0]
    for path in includes(file):
        other = path.split("/")[0]
        assert other in MAY_INCLUDE[room] | {room}
        assert (SHARED.get(other, SOURCES) / path).is_file()


def test_what_only_posix_has_stands_in_one_room():
    """Exceptions: the core's libraries and files, for Windows too; both ends of the Wine host."""
    system = re.compile(r"^#include <(?!nanobind|Python|emmintrin)(?:\w+/)?\w+\.h>", re.MULTILINE)
    found = {name(file) for file in FILES if system.search(file.read_text())}
    assert {each for each in found if not each.startswith("posix/")} == {
        "core/operating_system.cpp",
        "windows_host/bridge.cpp",
        "windows_host/host.cpp",
    }


def test_no_headers_include_each_other():
    TopologicalSorter({name(file): includes(file) for file in FILES}).prepare()
