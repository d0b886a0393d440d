"""What a component of a system keeps when its source replaces it before a run."""

from dataclasses import replace

import pytest

from orchestrator import System, block
from orchestrator.core.simunits import resolve
from orchestrator.core.system import Component, ComponentOptions
from orchestrator.core.system.ports import PowerPort

#: Known by the source alone.
OF_THE_SOURCE = {
    "connectors",
    "feedthrough",
    "has_states",
    "input_order",
    "has_derivatives",
    "has_event_mode",
}
#: Of the system, with another value than the default.
KEPT = {
    "name": "damper",
    "source": block("virtual_damper").source,
    "values": {"velocity": 0.5, "b": 60.0},
    "options": ComponentOptions(isolation="none"),
    "power_ports": {"flange": PowerPort.of("flange", ("force",), ("velocity",))},
    "late_ns": {"force": 3_000_000},
}


def test_every_field_is_of_the_source_or_of_the_system():
    """A new field belongs into one of both, and into ``resolve`` if it is of the system."""
    assert set(Component.__struct_fields__) == OF_THE_SOURCE | set(KEPT)


@pytest.mark.parametrize("field", KEPT)
def test_a_field_of_the_system_is_kept(field):
    part = replace(block("virtual_damper"), **{"name": "damper", field: KEPT[field]})
    resolved = resolve(System("s", {"damper": part}))
    assert getattr(resolved.components["damper"], field) == KEPT[field]
