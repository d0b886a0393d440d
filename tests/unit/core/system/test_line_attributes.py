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
from orchestrator.core.structs import replace
from orchestrator.core.system import (
    Causality,
    Connection,
    DelayTrace,
    Delivery,
    Endpoint,
    Interpolation,
    Jitter,
    JitterKind,
    LinearTransformation,
    MappingTransformation,
    Newest,
    Provenance,
    TransportDelay,
    Variation,
)
from orchestrator.core.system.line_attributes import (
    ATTRIBUTES,
    LineAttribute,
    LineSettings,
    attributes_on,
)
from orchestrator.pictures.drawing.difference import differences

_MS = 1_000_000
#: Values of attributes that are not words of an enumeration.
_STRUCTURED: dict[str, list[Any]] = {
    "delay": [
        TransportDelay(0),
        TransportDelay(16 * _MS, Provenance.MEASURED, device="rig", date="2026-01-01"),
        TransportDelay(1, variation=Variation(loss=0.25, seed=3, newest=Newest.ARRIVED)),
        TransportDelay(
            5 * _MS,
            variation=Variation(
                Jitter(JitterKind.GAMMA, 2 * _MS, 3.0, _MS), delivery=Delivery.IN_ORDER
            ),
        ),
        TransportDelay(5 * _MS, variation=Variation(Jitter(JitterKind.NORMAL, _MS))),
        TransportDelay(
            0, variation=Variation(trace=DelayTrace((0, 7), (3 * _MS, None), interpolated=True))
        ),
    ],
    "transformation": [
        LinearTransformation(-1.0),
        LinearTransformation(1.0, 0.1),
        LinearTransformation(2.5, -3.0),
        MappingTransformation(((0, 3), (1, -4))),
    ],
    "suppress_unit_conversion": [True],
}


def _values(attribute: LineAttribute) -> list[Any]:
    """Values of an attribute: every word, or examples of all that it can be."""
    if attribute.name in _STRUCTURED:
        return _STRUCTURED[attribute.name]
    kind = get_type_hints(Connection)[attribute.name]
    return [word for part in get_args(kind) if part is not type(None) for word in part]


_CASES = [
    pytest.param(attribute, value, id=f"{attribute.name}-{number}")
    for attribute in ATTRIBUTES
    for number, value in enumerate(_values(attribute))
]


def _system(attribute: LineAttribute, value: Any) -> System:
    delay = TransportDelay(2 * _MS) if attribute.name == "interpolation" else None
    fields: Any = {"delay": delay, attribute.name: value}
    kind = DataType.INTEGER if isinstance(value, MappingTransformation) else DataType.REAL
    connectors = {
        "u": Connector("u", Causality.INPUT, kind),
        "y": Connector("y", Causality.OUTPUT, kind),
    }
    line = Connection(Endpoint("", "u"), Endpoint("", "y"), **fields)
    return System("pair", connections=(line,), connectors=connectors)


def test_every_field_of_a_connection_has_a_codec() -> None:
    names = [attribute.name for attribute in ATTRIBUTES]
    assert {*Connection.__struct_fields__} == {"source", "target", *names}
    keys = [key for attribute in ATTRIBUTES for key in attribute.all_keys]
    assert sorted(keys) == sorted(LineSettings.__annotations__)
    assert sorted(keys) == sorted(ConnectionTable.model_fields)


@pytest.mark.parametrize("attribute", ATTRIBUTES, ids=lambda a: a.name)
def test_an_attribute_is_an_option_of_connect(attribute: LineAttribute) -> None:
    options = {"map_": "mapping"}
    parameters = {options.get(name, name) for name in signature(connect).parameters}
    assert {*attribute.all_keys} <= parameters


@pytest.mark.parametrize("attribute", ATTRIBUTES, ids=lambda a: a.name)
def test_a_connection_without_the_attribute_has_its_default(attribute: LineAttribute) -> None:
    bare = Connection(Endpoint("", "u"), Endpoint("", "y"))
    assert attribute.value(bare) == attribute.default == attribute.read({}, "line")
    assert list(attributes_on(bare)) == []
    if attribute.combined is not None:
        assert attribute.combined([bare, bare], "line") is None


@pytest.mark.parametrize("attribute", ATTRIBUTES, ids=lambda a: a.name)
def test_texts_tell_values_apart(attribute: LineAttribute) -> None:
    texts = [attribute.text(value) for value in _values(attribute)]
    assert len({*texts}) == len(texts)


@pytest.mark.parametrize(("attribute", "value"), _CASES)
def test_files_keep_an_attribute(attribute: LineAttribute, value: Any, tmp_path: Path) -> None:
    system = _system(attribute, value)
    write_ssd(system, tmp_path / "pair.ssd")
    write_toml(system, tmp_path / "pair.toml")
    for copy in (read_ssd(tmp_path / "pair.ssd"), read_toml(tmp_path / "pair.toml")):
        assert copy.connections == system.connections


@pytest.mark.parametrize(("attribute", "value"), _CASES)
def test_a_difference_names_an_attribute(attribute: LineAttribute, value: Any) -> None:
    system = _system(attribute, value)
    plain = replace(system.connections[0], **{attribute.name: attribute.default})
    before = System("pair", connections=(plain,), connectors=system.connectors)
    (change,) = differences(before, system)
    ((name, after),) = [(field.name, field.after) for field in change.fields]
    assert (name, after) == (attribute.title.lower(), attribute.text(value))


def test_an_unknown_setting_is_refused(wording) -> None:
    settings: Any = {"dely": "2 ms"}
    with wording.raises(UnknownNameError):
        System("pair").connect("u", "y", **settings)


def test_connections_in_a_row_keep_the_last_value() -> None:
    delay = TransportDelay(2_000_000)
    ends = Endpoint("a", "y"), Endpoint("b", "u")
    lines = [Connection(*ends, delay, interpolation=Interpolation.CUBIC), Connection(*ends)]
    (codec,) = (attribute for attribute in ATTRIBUTES if attribute.name == "interpolation")
    assert codec.combined is not None
    assert codec.combined(lines, "line") == "cubic"
