"""What SSP 2.0 has beyond 1.0: types, arrays, kinds, clocks; and files that mix the two."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from orchestrator.core.diagnostics import SspError
from orchestrator.core.ssp import diagnose, read_ssd
from orchestrator.core.system import Causality, DataType

TWO = 'version="2.0" name="s"'


def element(connectors: str, values: str = "") -> str:
    bindings = f"<ssd:ParameterBindings>{values}</ssd:ParameterBindings>" if values else ""
    return (
        '<ssd:Component name="b" type="application/x-softdock-block" source="block:q">'
        f"<ssd:Connectors>{connectors}</ssd:Connectors>{bindings}</ssd:Component>"
    )


def connector(content: str, kind: str = "parameter", name: str = "p") -> str:
    return f'<ssd:Connector name="{name}" kind="{kind}">{content}</ssd:Connector>'


def parameter(content: str) -> str:
    return f'<ssv:Parameter name="p">{content}</ssv:Parameter>'


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Float64", DataType.REAL),
        ("Float32", DataType.REAL),
        *((f"{sign}Int{bits}", DataType.INTEGER) for sign in ("", "U") for bits in (8, 16, 32, 64)),
        ("Clock", DataType.CLOCK),
    ],
)
def test_types(ssd: Any, name: str, kind: DataType) -> None:
    system = read_ssd(ssd(elements=element(connector(f"<ssc:{name}/>", "input")), root=TWO))
    assert system.component("b").connectors["p"].type is kind


@pytest.mark.parametrize("kind", ["structuralParameter", "constant", "local"])
def test_kinds(ssd: Any, kind: str) -> None:
    system = read_ssd(ssd(elements=element(connector("<ssc:Real/>", kind)), root=TWO))
    assert system.component("b").connectors["p"].causality is Causality(kind)


@pytest.mark.parametrize(
    ("typed", "value", "expected"),
    [
        ("Float64", '<ssv:Float64 value="1 2.5 -INF 4 5 6"/>', (1.0, 2.5, float("-inf"), 4, 5, 6)),
        ("Int64", '<ssv:Int64 value="1 2 3 4 5 -9223372036854775808"/>', (1, 2, 3, 4, 5, -(2**63))),
        (
            "Boolean",
            '<ssv:Boolean value="true false 1 0 1 1"/>',
            (True, False, True, False) + (True,) * 2,
        ),
        (
            "String",
            "<ssv:String>"
            + "".join(f'<ssv:Value value="{c}"/>' for c in "abc d")
            + '<ssv:Value value="e f"/></ssv:String>',
            ("a", "b", "c", " ", "d", "e f"),
        ),
        (
            "Binary",
            "<ssv:Binary>" + '<ssv:Value value="00ff"/>' * 6 + "</ssv:Binary>",
            (b"\x00\xff",) * 6,
        ),
    ],
)
def test_arrays(ssd: Any, typed: str, value: str, expected: tuple[object, ...]) -> None:
    shape = '<ssc:Dimension size="2"/><ssc:Dimension size="3"/>'
    given = ssd.binding(parameter(value + shape))
    part = element(connector(f"<ssc:{typed}/>{shape}"), given)
    component = read_ssd(ssd(elements=part, root=TWO)).component("b")
    assert component.connectors["p"].shape == (2, 3)
    assert component.values == {"p": expected}


def test_extents_that_the_file_does_not_say_come_from_the_source(ssd: Any) -> None:
    part = element(
        connector('<ssc:Real/><ssc:Dimension sizeConnector="n"/>', "output", "y")
        + connector("<ssc:Int32/>", "structuralParameter", "n")
    )
    line = '<ssd:Connection startElement="b" startConnector="y" endElement="a" endConnector="u"/>'
    system = read_ssd(ssd(elements=part, connections=line, root=TWO))
    assert list(system.component("b").connectors) == ["n"]
    assert len(system.connections) == 1  # it is declared all the same


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('<ssc:Real/><ssc:Dimension size="1000000000"/>', "has 1000000000 elements"),
        ("<ssc:Real/>" + '<ssc:Dimension size="2"/>' * 33, "has 33 dimensions"),
        ('<ssc:Real/><ssc:Dimension size="2" sizeConnector="n"/>', "found both"),
        ('<ssc:Real/><ssc:Dimension size="x"/>', "expected a whole number, found 'x'"),
    ],
)
def test_wrong_dimensions_are_refused(ssd: Any, content: str, expected: str) -> None:
    with pytest.raises(SspError) as caught:
        read_ssd(ssd(elements=element(connector(content)), root=TWO))
    assert expected in str(caught.value)


def test_single_elements_of_arrays_are_not_connected(ssd: Any, wording) -> None:
    line = (
        '<ssd:Connection startElement="a" startConnector="x" startIndices="1" endElement="a"'
        ' endConnector="u"/>'
    )
    with wording.raises(SspError, code="SSP203", place="connection a.x -> a.u"):
        read_ssd(ssd(connections=line, root=TWO))


def test_a_file_of_the_old_version_with_new_types_is_a_warning(ssd: Any) -> None:
    system, found = diagnose(ssd(elements=element(connector("<ssc:Float64/>"))))
    assert system is not None
    assert [(each.code, each.severity) for each in found] == [("SSP102", "warning")]
    assert "says version 1.0, but is valid as 2.0 only" in found[0].message


def test_sets_of_another_version_than_their_file(ssd: Any) -> None:
    values = ssd.values(ssd.real("a.k", 2.0)).replace('version="1.0"', 'version="2.0"')
    path: Path = ssd(bindings='<ssd:ParameterBinding source="set.ssv"/>')
    (path.parent / "set.ssv").write_text(values.replace("Real", "Float64"))
    assert read_ssd(path).component("a").values == {"k": 2.0}
    assert diagnose(path)[1] == []


def test_a_kind_that_is_not_said_comes_from_the_source(ssd: Any) -> None:
    part = element(connector("<ssc:Real/>", "unspecified", "y"))
    line = '<ssd:Connection startElement="b" startConnector="y" endElement="a" endConnector="u"/>'
    system, found = diagnose(ssd(elements=part, connections=line, root=TWO))
    assert system is not None
    assert system.component("b").connectors == {}
    assert str(system.connections[0]) == "b.y -> a.u"
    assert "SSP204" in [each.code for each in found]
