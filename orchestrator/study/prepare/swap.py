"""Swapping a component for another source of the same ports."""

from __future__ import annotations

from orchestrator.core.simunits import component_of
from orchestrator.core.system import Source, System


def swap_component(system: System, name: str, source: Source | str) -> System:
    """Replace a component's source by name, or by a path in nested systems.

    ``source`` may be text: a path that ends in ``.fmu``, or ``"block:NAME"``,
    ``"block:FILE.py:CLASS"`` or ``"block:MODULE:CLASS"``; ``"device:NAME?key=value&key=value"``
    with the settings of a device; or ``"log:FILE"``, a result that was recorded. What must agree is
    said at :meth:`System.swap`.

    Raises
    ------
    DescriptionError
        If the component does not exist, or ports are missing or differ; all together.
    """
    if isinstance(source, str):
        source = Source.parse(source)
    old = system.component(name)
    return system.swap(name, component_of(source, old.name, like=old))
