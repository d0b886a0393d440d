"""Parts to build systems of: connectors by name, those with ``u`` go in, with ``y`` out."""

import pytest

from orchestrator.system import Causality, Component, Connector, Source, SourceKind, System

KINDS = {"u": Causality.INPUT, "y": Causality.OUTPUT}


def part(source="gain", **units):
    """A component of a block with Real connectors."""
    connectors = {
        name: Connector(name, KINDS.get(name[0], Causality.PARAMETER), unit=unit)
        for name, unit in units.items()
    }
    return Component(source, Source(SourceKind.BLOCK, source), connectors)


@pytest.fixture(name="part")
def part_fixture():
    return part


@pytest.fixture
def arm():
    """A nested system: a motor, whose force, position and stiffness are led out."""
    return (
        System("arm")
        .add("motor", part(u="N", y="m", k="N/m"), k=3.0)
        .expose("force", to="motor.u")
        .expose("position", to="motor.y")
        .expose("k", to="motor.k")
    )


@pytest.fixture
def rig(arm):
    """A loop of the arm and a spring, with a delay."""
    return (
        System("rig")
        .add("arm", arm)
        .add("spring", part(u="m", y="N"))
        .connect("arm.position", "spring.u", delay="16 ms")
        .connect("spring.y", "arm.force")
    )
