"""A system that is written as a system file and read again is the same system."""

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from property.test_ssp_round_trip import systems

from orchestrator.author import read_toml, write_toml
from orchestrator.core.system import Connection, System


def usable(system: System) -> System:
    """Leave out what a system file refuses: ends that are connected twice, names with arrows."""
    lines = {str(c): c for c in system.connections if _stands(c)}
    return replace(
        system,
        connections=tuple(lines.values()),
        systems={name: usable(inner) for name, inner in system.systems.items()},
    )


def _stands(line: Connection) -> bool:
    ends = (str(line.source), str(line.target))
    return all(text == text.strip() and " -> " not in text for text in ends)


@pytest.mark.slow
@settings(max_examples=60)
@given(systems("2.0").map(usable))
def test_written_and_read(system: System) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "system.toml"
        write_toml(system, path)
        assert read_toml(path) == system
        text = path.read_bytes()
        write_toml(read_toml(path), path)
        assert path.read_bytes() == text, "equal systems give equal bytes"
