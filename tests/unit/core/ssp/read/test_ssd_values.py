"""Values and units of a file that is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from orchestrator.core.ssp import read_ssd
from orchestrator.core.system import BaseUnit

from .conftest import found, refusal

LOOP = 'startElement="a" startConnector="x" endElement="a" endConnector="u"'


def test_values_are_converted_to_the_connectors_units(ssd: Any) -> None:
    values = ssd.real("k", 2.5, "kN/m") + ssd.real("u", 3.0)
    system = read_ssd(ssd(bindings=ssd.binding(values, 'prefix="a."')))
    assert system.component("a").values == {"k": pytest.approx(2500.0), "u": 3.0}


def test_the_system_binds_over_the_component_and_later_over_earlier(ssd: Any) -> None:
    inner = "".join(ssd.binding(ssd.real("k", v)) for v in (1.0, 2.0)) + ssd.binding(
        ssd.real("h", 3.0)
    )
    component = (
        '<ssd:Component name="b" type="application/x-softdock-block" source="block:q">'
        f"<ssd:ParameterBindings>{inner}</ssd:ParameterBindings></ssd:Component>"
    )
    outer = ssd.binding(ssd.real("b.h", 4.0))
    system = read_ssd(ssd(elements=component, bindings=outer))
    assert system.component("b").values == {"k": 2.0, "h": 4.0}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            '<ssv:Parameter name="a.k"><ssv:Boolean value="true"/></ssv:Parameter>',
            "expected a Real",
        ),
        ('<ssv:Parameter name="a.n"><ssv:Real value="1"/></ssv:Parameter>', "expected an Integer"),
        ('<ssv:Parameter name="a.x"><ssv:Real value="1"/></ssv:Parameter>', "is an output"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(ssd: Any, value: str, expected: str) -> None:
    assert expected in refusal(ssd(bindings=ssd.binding(value)))


def test_a_value_in_a_unit_is_taken_as_it_is_where_its_parameter_has_none(ssd: Any) -> None:
    component = (
        '<ssd:Component name="b" type="application/x-softdock-block" source="block:q">'
        f"<ssd:ParameterBindings>{ssd.binding(ssd.real('k', 1.0, 'mm'))}"
        "</ssd:ParameterBindings></ssd:Component>"
    )
    path = ssd(elements=component)
    assert read_ssd(path).component("b").values == {"k": 1.0}
    assert "SSP122" in found(path)


def test_suppressed_conversion(ssd: Any) -> None:
    line = f'<ssd:Connection {LOOP} suppressUnitConversion="true"/>'
    assert read_ssd(ssd(connections=line)).connections[0].suppress_unit_conversion


def test_what_a_file_defines_a_unit_to_be_wins(ssd: Any) -> None:
    def units(definition: str) -> Path:
        return ssd(
            after=f'<ssd:Units>\n<ssc:Unit name="mm"><ssc:BaseUnit {definition}/></ssc:Unit>'
            '<ssc:Unit name="unused"><ssc:BaseUnit/></ssc:Unit></ssd:Units>'
        )

    exact = read_ssd(units('m="1" factor="0.001000001"')).component("a").connectors["u"]
    assert exact.unit_definition is None  # written with few digits: the name says it exactly
    path = units('m="1"')
    assert read_ssd(path).component("a").connectors["u"].unit_definition == BaseUnit({"m": 1})
    assert "unit 'mm': is defined as 1 m, but its name says 0.001 m" in found(path)


@pytest.mark.parametrize("unit", ["bit/s", "byte", "baud"])
def test_a_unit_that_si_has_no_product_for_is_what_the_file_defines(ssd: Any, unit: str) -> None:
    path = ssd(
        elements='<ssd:Component name="b" type="application/x-softdock-block"'
        ' source="block:plant"><ssd:Connectors>'
        f'<ssd:Connector name="u" kind="input"><ssc:Real unit="{unit}"/></ssd:Connector>'
        "</ssd:Connectors></ssd:Component>",
        after=f'<ssd:Units><ssc:Unit name="{unit}"><ssc:BaseUnit s="-1"/></ssc:Unit></ssd:Units>',
    )
    found = read_ssd(path).component("b").connectors["u"]
    assert (found.unit, found.unit_definition) == (unit, BaseUnit({"s": -1}))


@pytest.mark.parametrize(
    ("own", "value"),
    [
        ("", 120.0),
        ('<ssv:Units><ssc:Unit name="mine"><ssc:BaseUnit m="1"/></ssc:Unit></ssv:Units>', 20.0),
    ],
)
def test_a_set_in_a_file_has_the_units_of_the_file(ssd: Any, own: str, value: float) -> None:
    component = (
        '<ssd:Component name="b" type="application/x-softdock-block" source="block:q">'
        '<ssd:Connectors><ssd:Connector name="k" kind="parameter"><ssc:Real unit="m"/>'
        "</ssd:Connector></ssd:Connectors>"
        f"<ssd:ParameterBindings>{ssd.binding(ssd.real('k', 20.0, 'mine'))}</ssd:ParameterBindings>"
        "</ssd:Component>"
    ).replace("</ssv:Parameters>", f"</ssv:Parameters>{own}")
    units = (
        '<ssd:Units><ssc:Unit name="m"><ssc:BaseUnit m="1"/></ssc:Unit>'
        '<ssc:Unit name="mine"><ssc:BaseUnit m="1" offset="100"/></ssc:Unit></ssd:Units>'
    )
    assert read_ssd(ssd(elements=component, after=units)).component("b").values == {"k": value}


def test_a_set_in_a_file_has_the_enumerations_of_the_file(ssd: Any) -> None:
    value = '<ssv:Parameter name="e"><ssv:Enumeration value="two" name="E"/></ssv:Parameter>'
    component = (
        '<ssd:Component name="b" type="application/x-softdock-block" source="block:q">'
        f"<ssd:ParameterBindings>{ssd.binding(value)}</ssd:ParameterBindings></ssd:Component>"
    )
    enumeration = (
        '<ssd:Enumerations><ssc:Enumeration name="E"><ssc:Item name="two" value="2"/>'
        "</ssc:Enumeration></ssd:Enumerations>"
    )
    system = read_ssd(ssd(elements=component, after=enumeration))
    assert system.component("b").values == {"e": 2}


def test_a_value_that_the_schema_refuses_is_reported_once(ssd: Any) -> None:
    value = '<ssv:Parameter name="a.k"><ssv:Real value="two"/></ssv:Parameter>'
    text = refusal(ssd(bindings=ssd.binding(value)))
    assert text.count("parameter 'a.k'") == 1
    assert "'two' is not a valid value of the atomic type 'xs:double'" in text


def test_a_misspelt_attribute_suggests_the_required_one(ssd: Any) -> None:
    line = LOOP.replace("startConnector", "startConector")
    text = refusal(ssd(connections=f"<ssd:Connection {line}/>"))
    assert "ssd:Connection has no attribute 'startConector'. Did you mean 'startConnector'?" in text
    assert "required but missing" not in text
