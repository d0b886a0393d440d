"""Attributes of elements of a DCPX as values."""

from __future__ import annotations

from lxml import etree

from orchestrator.dcp.description.forms import TRUE
from orchestrator.dcp.description.variable import (
    StepChoice,
)


def said(element: etree._Element, name: str) -> str:
    """Return an attribute that must be there."""
    return str(element.attrib[name])


def attributes_of(element: etree._Element) -> dict[str, str]:
    """Return all attributes."""
    return {str(name): str(text) for name, text in element.attrib.items()}


def truth(element: etree._Element, name: str, *, default: bool = False) -> bool:
    """Return a Boolean attribute."""
    text = element.get(name)
    return default if text is None else text.strip() in TRUE


def _optional(element: etree._Element, name: str) -> int | None:
    text = element.get(name)
    return None if text is None else int(text)


def steps_of(element: etree._Element) -> StepChoice:
    """Return the steps that an element allows."""
    return StepChoice(
        default=int(element.get("defaultSteps", "1")),
        fixed=truth(element, "fixedSteps", default=True),
        least=_optional(element, "minSteps"),
        most=_optional(element, "maxSteps"),
    )
