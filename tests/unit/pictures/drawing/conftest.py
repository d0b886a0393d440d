from dataclasses import replace

import pytest

from orchestrator.core.coupling import LoopDelay
from orchestrator.core.system import (
    Causality,
    Component,
    Connector,
    Source,
    SourceKind,
    System,
    TransportDelay,
    closed_loops,
)
from orchestrator.pictures.drawing import Facts


def component(inputs=(), outputs=(), *, kind=SourceKind.BLOCK, location="block", units=None):
    """A component of ports; outputs depend on inputs through states only."""
    units = units or {}
    connectors = {
        name: Connector(name, causality, unit=units.get(name))
        for causality, names in ((Causality.INPUT, inputs), (Causality.OUTPUT, outputs))
        for name in names
    }
    return Component("c", Source(kind, location), connectors, dict.fromkeys(outputs, ()))


def joint(name):
    own = {
        "command": Connector("command", Causality.INPUT, unit="deg"),
        "load": Connector("load", Causality.INPUT, unit="N.m"),
        "angle": Connector("angle", Causality.OUTPUT, unit="rad"),
    }
    fmu = SourceKind.FMU
    units = {"reference": "rad", "torque": "N.m", "angle": "rad"}
    return (
        System(name, connectors=own)
        .add("drive", component(["reference", "measured"], ["torque"], units=units))
        .add("motor", component(["torque", "load"], ["angle"], kind=fmu, location="M.fmu"))
        .connect("command", "drive.reference")
        .connect("drive.torque", "motor.torque", delay="2 ms")
        .connect("motor.angle", "drive.measured", delay=TransportDelay.of("1 ms", "measured"))
        .connect("motor.angle", "angle")
        .connect("load", "motor.load", factor=-1)
    )


@pytest.fixture
def arm():
    """A planner and a payload around two nested joints."""
    system = System("arm", systems={"shoulder": joint("shoulder"), "elbow": joint("elbow")})
    for name, inputs, outputs in (
        ("planner", ["angle"], ["command_1", "command_2"]),
        ("payload", ["angle_1", "angle_2"], ["torque_1", "torque_2"]),
    ):
        system = system.add(name, component(inputs, outputs))
    return (
        system.connect("planner.command_1", "shoulder.command")
        .connect("planner.command_2", "elbow.command", delay="16 ms")
        .connect("shoulder.angle", "payload.angle_1")
        .connect("elbow.angle", "payload.angle_2")
        .connect("payload.torque_1", "shoulder.load")
        .connect("payload.torque_2", "elbow.load")
        .connect("elbow.angle", "planner.angle", delay="8 ms")
    )


@pytest.fixture
def arm_facts(arm):
    """Loops of the arm, of which the first adds 0.5 ms, and an order of its steps."""
    flat = arm.flat()
    loops = [
        LoopDelay((loop,), loop.physical_ns, 0.0 if i else 5e5)
        for i, loop in enumerate(closed_loops(flat))
    ]
    steps = {name: 1 + i // 2 for i, name in enumerate(flat.components)}
    return Facts(loops, (), steps, frozenset({"payload"}), "gauss-seidel")


def block(name="block"):
    return replace(component(), source=Source(SourceKind.BLOCK, name))
