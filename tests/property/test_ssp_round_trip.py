"""A system that is written and read again is the same system, in both versions of SSP."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from benchmark_problems.ssp_systems import characters, systems
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from orchestrator.core.ssp import diagnose, read_ssd, write_ssd
from orchestrator.core.ssp.common.names import decoded, encoded
from orchestrator.core.ssp.common.schema import Schema, violations


@pytest.mark.slow
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_a_system_comes_back_equal(version: str, data: st.DataObject) -> None:
    system = data.draw(systems(version))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "SystemStructure.ssd"
        write_ssd(system, path, version)
        first = path.read_bytes()
        assert violations(etree.fromstring(first), Schema.DESCRIPTION, version) == []
        back = read_ssd(path)
        assert back == system
        assert list(back.components) == list(system.components)
        write_ssd(back, path, version)
        assert path.read_bytes() == first
        _, found = diagnose(path)
        assert {each.severity for each in found} <= {"note", "warning"}


@given(st.text())
def test_every_name_of_an_element_has_one_of_a_component(text: str) -> None:
    name = encoded(text)
    assert not set(name) & set("./")
    assert decoded(name) == text


@given(st.text(characters(without="./")) | st.text(st.sampled_from("%25EF"), max_size=12))
def test_every_name_of_a_component_has_one_of_an_element(name: str) -> None:
    assert encoded(decoded(name)) == name
