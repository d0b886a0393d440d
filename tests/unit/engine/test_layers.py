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
    "host": {"core"},
    "posix": {"core", "host"},
    "windows": {"core", "host"},
    "isolation": {"core", "host"},
    "devices": {"core", "pacing", "host"},
    "pacing": {"core", "host"},
    "run": {"core", "algorithms", "events", "pacing", "host"},
    "integration": {"core", "runtime"},
    "fmi": {"core", "integration", "runtime"},
    "windows_host": {"fmi", "runtime"},
    "exported": {"core", "integration", "fmi", "algorithms", "events", "run", "runtime"},
    "bindings": {"core", "integration", "fmi", "isolation", "devices", "pacing", "host", "run"},
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


#: What asks for the platform: a header of a system, or a macro that names one.
SYSTEM = re.compile(
    r"^#include <(?!nanobind|Python|emmintrin)(?:\w+/)?\w+\.h>|_WIN32|__linux__|__APPLE__",
    re.MULTILINE,
)
#: The two sides of `host`, which alone may, but for the files below.
SIDES = ("posix", "windows")


def test_only_both_sides_of_the_host_ask_for_the_platform():
    """Exceptions: the library of exported systems, and the Wine host."""
    found = {name(file) for file in FILES if SYSTEM.search(file.read_text())}
    assert {each for each in found if each.split("/")[0] not in SIDES} == {
        "core/operating_system.cpp",
        "exported/front.cpp",
        "exported/platform.hpp",
        "windows_host/bridge.cpp",
        "windows_host/host.cpp",
    }


def test_both_sides_of_the_host_have_the_same_files():
    headers = {file.stem for file in (SOURCES / "host").iterdir()}
    for side in SIDES:
        assert {file.stem for file in (SOURCES / side).iterdir()} == headers


def test_no_headers_include_each_other():
    TopologicalSorter({name(file): includes(file) for file in FILES}).prepare()
