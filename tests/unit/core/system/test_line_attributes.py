"""Codecs of attributes of connections: every format, command and page has each of them."""

from __future__ import annotations

from inspect import signature
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from orchestrator import Connector, DataType, System, UnknownNameError
from orchestrator.author import read_toml, write_toml
from orchestrator.author.tables import ConnectionTable
from orchestrator.cli.edit import connect
from orchestrator.core.ssp import read_ssd, write_ssd
from orchestrator.core.system import Causality, Connection, Endpoint, Interpolation, TransportDelay
from orchestrator.core.system.line_attributes import (
    SIMPLE_ATTRIBUTES,
    LineAttribute,
    LineSettings,
    attributes_on,
)
from orchestrator.pictures.drawing.difference import differences

#: Fields of a connection with a codec of their own in each format.
_STRUCTURED = {"source", "target", "delay", "transformation", "suppress_unit_conversion"}


def _values(attribute: LineAttribute) -> list[Any]:
    """Every value of an attribute of words."""
    kind = get_type_hints(Connection)[attribute.name]
    return [word for part in get_args(kind) if part is not type(None) for word in part]


_CASES = [
    pytest.param(attribute, value, id=f"{attribute.name}-{value}")
    for attribute in SIMPLE_ATTRIBUTES
    for value in _values(attribute)
]


def _system(attribute: LineAttribute, value: Any) -> System:
    delay = "2 ms" if attribute.name == "interpolation" else None
    settings: Any = {attribute.name: value, "delay": delay}
    system = System(
        "pair",
        connectors={
            "u": Connector("u", Causality.INPUT, DataType.REAL),
            "y": Connector("y", Causality.OUTPUT, DataType.REAL),
        },
    )
    return system.connect("u", "y", **settings)


def test_every_field_of_a_connection_has_a_codec() -> None:
    simple = {attribute.name for attribute in SIMPLE_ATTRIBUTES}
    assert {*Connection.__struct_fields__} == _STRUCTURED | simple


@pytest.mark.parametrize("attribute", SIMPLE_ATTRIBUTES, ids=lambda a: a.name)
def test_an_attribute_is_an_argument_a_key_and_an_option(attribute: LineAttribute) -> None:
    assert attribute.name in LineSettings.__annotations__
    assert attribute.name in ConnectionTable.model_fields
    assert attribute.name in signature(connect).parameters


@pytest.mark.parametrize(("attribute", "value"), _CASES)
def test_text_and_plain_value_are_read_back(attribute: LineAttribute, value: Any) -> None:
    assert attribute.parse(attribute.text(value), "line") == value
    assert attribute.parse(attribute.plain(value), "line") == value


@pytest.mark.parametrize(("attribute", "value"), _CASES)
def test_files_keep_an_attribute(attribute: LineAttribute, value: Any, tmp_path: Path) -> None:
    system = _system(attribute, value)
    write_ssd(system, tmp_path / "pair.ssd")
    write_toml(system, tmp_path / "pair.toml")
    for copy in (read_ssd(tmp_path / "pair.ssd"), read_toml(tmp_path / "pair.toml")):
        assert list(attributes_on(copy.connections[0])) == [(attribute, value)]


@pytest.mark.parametrize(("attribute", "value"), _CASES)
def test_a_difference_names_an_attribute(attribute: LineAttribute, value: Any) -> None:
    system = _system(attribute, value)
    delay = system.connections[0].delay
    plain = Connection(Endpoint("", "u"), Endpoint("", "y"), delay)
    before = System("pair", connections=(plain,), connectors=system.connectors)
    (change,) = differences(before, system)
    ((name, after),) = [(field.name, field.after) for field in change.fields]
    assert (name, after) == (attribute.title.lower(), str(value))


def test_an_unknown_setting_is_refused() -> None:
    settings: Any = {"dely": "2 ms"}
    with pytest.raises(
        UnknownNameError, match=r"u -> y has no setting 'dely'; did you mean 'delay'"
    ):
        System("pair").connect("u", "y", **settings)


def test_connections_in_a_row_keep_the_last_value() -> None:
    late = TransportDelay(2_000_000)
    ends = Endpoint("a", "y"), Endpoint("b", "u")
    lines = [Connection(*ends, late, interpolation=Interpolation.CUBIC), Connection(*ends)]
    assert SIMPLE_ATTRIBUTES[0].joined(lines) == "cubic"
