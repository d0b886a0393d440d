"""The snare, built in Python; run it to write SystemStructure.ssd and free.ssd.

python examples/snare/systems.py
"""

from __future__ import annotations

from math import pi
from pathlib import Path

import numpy as np

from orchestrator import DefaultExperiment, DescriptionError, System, fmu, write_ssd
from python_blocks.ropes.planar_rope import PlanarRope
from python_blocks.ropes.rope_statics import equilibrium

HERE = Path(__file__).parent
FMUS = HERE.parents[1] / "fmus" / "build"

# Cai, Chen, Luo, Wang (2021), section 4.2: rope and star target. The ring follows from the 0.26 m
# between the ends of an open rope; all else is assumed.
LENGTH, MASS, EI = 0.30, 0.0365 * 0.30, 0.024  # m, kg, N.m2
NATURAL = 1.564778  # 1/m, 26 degrees in all
RING, HEIGHT = 0.15, 0.02  # m: radius of the rings, and their distance
SEGMENTS = 15
EA = 3e5  # N, assumed: that of the steel rope of examples/impact
J_SPIN = 1.23e-8  # kg.m2, assumed: a solid rope of 3 mm
FRICTION = 10.0  # N.m.s/rad, of the ring: else it leaps back from ropes that are tight, for seconds
SHAFT, BASE = (0.040931, -0.00137, -0.342138), 0.055  # m: base of the shaft, and its place along z
RUN = DefaultExperiment(stop_ns=4_000_000_000, step_ns=1_000_000, algorithm="gauss-seidel")
ROPES = ("rope_1", "rope_2", "rope_3")


def open_rope(start: float) -> np.ndarray:
    """Return the places of the inner nodes of an open rope, m, shape (14, 3), device frame.

    The rope is pinned at the angle ``start`` of the fixed ring, and a third of a turn on at the
    rotating one; it bows outward. Places are rounded to 1e-12 m: last digits depend on the
    processor's linear algebra, and the files written here must not.

    Raises
    ------
    DescriptionError
        The rope is shorter than the distance of its ends.
    """
    end = start + 2 * pi / 3
    a = np.array([RING * np.cos(start), RING * np.sin(start), HEIGHT / 2])
    b = np.array([RING * np.cos(end), RING * np.sin(end), -HEIGHT / 2])
    span = float(np.linalg.norm(b - a))
    s = LENGTH / SEGMENTS
    rope = PlanarRope(
        segments=SEGMENTS,
        length=LENGTH,
        mass=MASS,
        span=span,
        k_tes=EA / s,
        k_tor=EI / s,
        curvature=-NATURAL,
    )
    outward = np.array([np.cos(start + pi / 3), np.sin(start + pi / 3), 0.0])
    rest = equilibrium(rope)
    places = a + rest[:, :1] * (b - a) / span + rest[:, 1:] * outward
    return np.round(places, 12) + 0.0  # no negative zero


def check(base: tuple[float, float]) -> None:
    """Raise where the shaft does not begin within the open ropes.

    Raises
    ------
    DescriptionError
        The target is outside the ring.
    """
    free = RING - 0.02  # the bow of the ropes, and the shaft
    if np.hypot(*base) > free:
        raise DescriptionError(
            f"target: the shaft is at x, y = {base[0]:g}, {base[1]:g} m; expected a place within"
            f" {free:g} m of the axis, inside of the open ropes"
        )


def snare(aside: tuple[float, float] = (0.0, 0.0), *, free: bool = False) -> System:
    """Draw the snare around a target whose shaft is ``aside`` of the axis, m.

    The device stands in the world, or is ``free``: a body that floats and turns. All lines are
    extrapolated: forces that are held over a step make energy of a target that moves on, and ropes
    beat where an end of theirs jumps.
    """
    check(aside)
    place = (aside[0] - SHAFT[0], aside[1] - SHAFT[1], BASE - SHAFT[2])
    text = "A snare of three wire ropes closes around the grapple shaft of a free target."
    system = System("snare", experiment=RUN, description=text).add(
        "target", fmu(FMUS / "GrappleTarget.fmu"), **_elements("r0", place)
    )
    if free:  # before the lock: both it and the target get the forces of the step before
        system = system.add("device", fmu(FMUS / "FreeDevice.fmu"))
    system = (
        system.add("lock", fmu(FMUS / "FlushLock.fmu"))
        .add("ring", fmu(FMUS / "SnareRing.fmu"), viscous=FRICTION)
        .add("servo", fmu(FMUS / "RigidGearboxServo.fmu"), ratio=200.0, torque_limit=0.05)
        .set("servo.rate_command", 0.8)
        .add("screw", fmu(FMUS / "DragScrew.fmu"), speed=16 * pi, stroke=0.05, begin=2.0)
        .connect("servo.torque", "ring.motor_torque")
        .connect("ring.rate", "servo.rate", delay=0.0)
    )
    system = _lines(system, "lock.force", "target.force", 3)
    system = _seen(_lines(system, "lock.torque", "target.torque", 3), "lock")
    system = _floating(system) if free else _standing(system)
    for number, name in enumerate(ROPES):
        system = _rope(system, number, name, free=free)
        if free:
            system = _on_device(system, name, number + 1)
    return system.with_extrapolation("linear")


def _standing(system: System) -> System:
    """Fix the face of the lock and the axis of the ring in the world."""
    values = {f"frame_{name}": (0.0, 0.0, 0.0) for name in ("r", "v", "omega")}
    for port, vector in (values | {"frame_q": (1.0, 0.0, 0.0, 0.0)}).items():
        for element, value in _elements(port, vector).items():
            system = system.set(f"lock.{element}", value)
    return system.set("ring.turning", 0.0)


def _floating(system: System) -> System:
    """Let the lock act on the device, where that is."""
    for source, sink, size in (
        ("screw.drag", "device.screw", 3),
        ("screw.drag_rate", "device.screw_rate", 3),
        ("lock.force", "device.lock", 3),
        ("lock.frame_torque", "device.lock_torque", 3),
        ("device.frame_r", "lock.frame_r", 3),
        ("device.frame_v", "lock.frame_v", 3),
        ("device.q", "lock.frame_q", 4),
        ("device.omega", "lock.frame_omega", 3),
    ):
        system = _lines(system, source, sink, size)
    system = system.connect("ring.momentum", "device.ring_momentum")
    return system.connect("device.w[3]", "ring.turning")


def _on_device(system: System, name: str, number: int) -> System:
    """Let a rope pull at the rings of the device, and turn with them."""
    for end in "ab":
        system = _lines(system, f"{name}.force_{end}", f"device.force_{number}{end}", 3)
    system = _lines(system, f"{name}.ring_moment", f"device.moment_{number}", 3)
    system = _lines(system, "device.q", f"{name}.ring_q", 4)
    return _lines(system, "device.omega", f"{name}.ring_omega", 3)


def _rope(system: System, number: int, name: str, *, free: bool) -> System:
    """Add a rope with its lines to rings, target and what moves the rings."""
    mover, kind = ("device", "FloatingSnareRope") if free else ("screw", "SnareRope")
    start = number * 2 * pi / 3
    values = {
        "start_a": start,
        "EA": EA,
        "J_spin": J_SPIN,
        "curvature": NATURAL,
        "shaft_length": 0.08,
        "k_contact": 4e4,
        "c_contact": 10.0,
        "c_stretch": 1.0,
        "c_bend": 2e-4,
        "c_twist": 2e-6,
    }
    for i, node in enumerate(open_rope(start), start=1):
        values |= _elements(f"x0[{i}", tuple(node.tolist()))
    system = system.add(name, fmu(FMUS / f"{kind}.fmu"), **values)
    system = _lines(system, f"{name}.force", f"target.force_{number + 1}", 3)
    system = _lines(system, f"{name}.torque", f"target.torque_{number + 1}", 3)
    system = system.connect(f"{name}.ring_torque", f"ring.{name}")
    for source, sink in (("angle", "angle"), ("rate", "angle_rate")):
        system = system.connect(f"ring.{source}", f"{name}.{sink}")
    for port in ("drag", "drag_rate"):
        system = _lines(system, f"{mover}.{port}", f"{name}.{port}", 3)
    return _seen(system, name)


def _seen(system: System, name: str) -> System:
    """Let a component see where the target is."""
    for source, sink, size in (("r", "position", 3), ("v", "velocity", 3), ("q", "q", 4)):
        system = _lines(system, f"target.{source}", f"{name}.{sink}", size)
    return _lines(system, "target.w", f"{name}.omega", 3)


def _lines(system: System, source: str, sink: str, size: int) -> System:
    """Connect the elements of two arrays."""
    for i in range(1, size + 1):
        system = system.connect(f"{source}[{i}]", f"{sink}[{i}]")
    return system


def _elements(name: str, values: tuple[float, ...]) -> dict[str, float]:
    """Return the elements of an array, or of a row whose name ends with its number, by name."""
    within = "," if "[" in name else "["
    return {f"{name}{within}{i}]": value for i, value in enumerate(values, start=1)}


if __name__ == "__main__":
    write_ssd(snare(), HERE / "SystemStructure.ssd", version="2.0", connectors=False)
    write_ssd(snare(free=True), HERE / "free.ssd", version="2.0", connectors=False)
