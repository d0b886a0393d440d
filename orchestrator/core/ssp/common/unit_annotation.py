"""The annotation of a component that says how it is run.

::

    <ssc:Annotation type="io.softdock.unit">
      <sd:Unit solver="cvode" tolerance="1e-08" isolation="process" stepTimeout="500 ms"/>
    </ssc:Annotation>

The interface is SSP's own attribute ``implementation``.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Final

from lxml import etree

from orchestrator.core.ssp.common import codes
from orchestrator.core.ssp.common.annotations import UNIT_TYPE, annotate, empty, only, own
from orchestrator.core.ssp.common.codes import refusal
from orchestrator.core.ssp.common.lexical import attribute, integer, real
from orchestrator.core.ssp.common.names import add
from orchestrator.core.system import ComponentOptions

_IMPLEMENTATIONS: Final = {"CoSimulation": "cs", "ModelExchange": "me"}
_INTERFACES: Final = {interface: name for name, interface in _IMPLEMENTATIONS.items()}
_ATTRIBUTES: Final = {
    "solver": "solver",
    "tolerance": "tolerance",
    "backend": "backend",
    "isolation": "isolation",
    "process": "process",
    "step_timeout": "stepTimeout",
    "on_failure": "onFailure",
    "restarts": "restarts",
}
_USUAL: Final = ComponentOptions()


def read_options(component: etree._Element) -> ComponentOptions:
    """Read how an ssd:Component is run."""
    said = component.get("implementation", "any")
    if said not in {"any", *_IMPLEMENTATIONS}:
        raise refusal(
            codes.SCHEDULED,
            f"implementation '{said}' is not supported; expected CoSimulation, ModelExchange, any",
        )
    options: dict[str, object] = {"interface": _IMPLEMENTATIONS.get(said)}
    unit = own(component, UNIT_TYPE, "sd:Unit")
    if unit is not None:
        empty(unit)
        only(unit, tuple(_ATTRIBUTES.values()))
        for option, name in _ATTRIBUTES.items():
            if name in unit.attrib:
                options[option] = _value(unit, option, name)
    return _USUAL.changed(options)


def _value(unit: etree._Element, option: str, name: str) -> object:
    if option == "tolerance":
        return attribute(unit, name, real, 0.0)
    if option == "restarts":
        return attribute(unit, name, integer, 0)
    text = unit.get(name, "")
    if option == "step_timeout" and not text.endswith("s"):
        return attribute(unit, name, real, 0.0)
    return text


def add_options(component: etree._Element, options: ComponentOptions) -> None:
    """Say how a component is run, as far as it differs from the defaults."""
    if options.interface is not None:
        component.set("implementation", _INTERFACES[options.interface])
    if options == _USUAL:
        return
    said = {
        _ATTRIBUTES[each.name]: _text(each.name, getattr(options, each.name))
        for each in fields(options)
        if each.name in _ATTRIBUTES and getattr(options, each.name) != getattr(_USUAL, each.name)
    }
    if said:
        add(annotate(component, UNIT_TYPE), "sd:Unit", **said)


def _text(option: str, value: float | str) -> str:
    if isinstance(value, str) or option == "restarts":
        return str(value)
    return repr(float(value))
