"""Edits of an SSD: the file stays valid, what is not edited stays byte for byte."""

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from benchmark_problems.ssp_systems import NAMES, systems, values
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st
from lxml import etree

from orchestrator.author.ssp_edit.document import Document
from orchestrator.core.diagnostics import SoftdockError
from orchestrator.core.ssp import write_ssd
from orchestrator.core.ssp.common.schema import Schema, violations
from orchestrator.core.system import Causality, Component, Source, SourceKind, System

#: Without shrinking, which takes minutes for whole systems.
QUICK = [Phase.explicit, Phase.reuse, Phase.generate]
COMMENT = "<!-- by hand -->"


def opened(system, folder, version="2.0"):
    """A document of a system with a comment behind every line that closes an element."""
    path = Path(folder) / "SystemStructure.ssd"
    write_ssd(system, path, version)
    lines = path.read_text().splitlines(keepends=True)
    noted = [
        line.rstrip("\n") + f" {COMMENT}\n" if line.lstrip().startswith("</ssd:C") else line
        for line in lines
    ]
    path.write_text("".join(noted))
    return Document.open(path)


def paths(system, above=""):
    """All components and nested systems."""
    found = [above + name for name in (*system.components, *system.systems)]
    for name, inner in system.systems.items():
        found += paths(inner, f"{above}{name}/")
    return found


def settable(system, above=""):
    """All connectors of components that take a value."""
    found = []
    for name, component in system.components.items():
        found += [
            (f"{above}{name}.{connector.name}", connector)
            for connector in component.connectors.values()
            if connector.causality in {Causality.INPUT, Causality.PARAMETER}
        ]
    for name, inner in system.systems.items():
        found += settable(inner, f"{above}{name}/")
    return [(path, c) for path, c in found if c.type != "Clock"]


@pytest.mark.slow
@settings(max_examples=20, phases=QUICK)
@given(systems("2.0"), systems("2.0"))
def test_any_system_becomes_any_other(one: System, other: System):
    with tempfile.TemporaryDirectory() as folder:
        document = opened(one, folder)
        before = document.content
        document.update(one)
        assert document.content == before, "nothing changed, so nothing is written"
        document.update(replace(other, name=one.name))
        assert violations(etree.fromstring(document.content), Schema.DESCRIPTION, "2.0") == []
        found = document.system
        assert found.components == other.components
        assert found.systems.keys() == other.systems.keys()
        assert sorted(map(repr, found.connections)) == sorted(map(repr, other.connections))
        document.save()
        assert Document.open(document.path).content == document.content


@pytest.mark.slow
@settings(max_examples=20, phases=QUICK)
@given(systems("2.0"), st.data())
def test_a_name_there_and_back(system: System, data: st.DataObject):
    known = paths(system)
    assume(known)
    path, new = data.draw(st.sampled_from(known)), data.draw(NAMES)
    folder_of, _, old = path.rpartition("/")
    with tempfile.TemporaryDirectory() as folder:
        document = opened(system, folder)
        before = document.content
        try:
            document.rename(path, new)
        except SoftdockError:
            assert document.content == before
            return
        assert document.system == system.rename(path, new)
        document.rename(f"{folder_of}/{new}" if folder_of else new, old)
        assert document.content == before


@pytest.mark.slow
@settings(max_examples=20, phases=QUICK)
@given(systems("2.0"), st.data())
def test_a_value_there_and_back(system: System, data: st.DataObject):
    known = settable(system)
    assume(known)
    path, connector = data.draw(st.sampled_from(known))
    value = data.draw(values(connector, "2.0"))
    with tempfile.TemporaryDirectory() as folder:
        document = opened(system, folder)
        before = document.content
        document.update(document.system.set(path, value))
        assert document.content.count(COMMENT.encode()) == before.count(COMMENT.encode())
        document.update(system)
        assert document.content == before


@pytest.mark.slow
@settings(max_examples=20, phases=QUICK)
@given(systems("2.0"), NAMES)
def test_a_component_comes_and_goes(system: System, name: str):
    assume(system.components)  # else an empty tag of the system stays in two halves
    added = Component(name, Source(SourceKind.BLOCK, "relay"))
    with tempfile.TemporaryDirectory() as folder:
        document = opened(system, folder)
        before = document.content
        try:
            grown = system.add(name, added)
        except SoftdockError:
            return
        document.update(grown)
        assert document.system.components[name] == added
        document.update(document.system.remove(name))
        assert document.content == before


def test_an_edit_that_fails_changes_nothing(tmp_path):
    system = System("s").add("a", Component("a", Source(SourceKind.BLOCK, "relay")))
    document = opened(system, tmp_path)
    before = document.content
    with pytest.raises(SoftdockError, match="XML cannot hold"):
        document.update(system.rename("a", "b\x00"))
    assert document.content == before
    assert document.path.read_bytes() == before
