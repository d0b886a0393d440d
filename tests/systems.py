"""Systems and blocks that tests of several rooms use."""

import numpy as np

from orchestrator import Block, Input, Output, System, block, fmu

#: Side b of a contact that stands on the ground.
GROUND = {"position_b": 0.0, "velocity_b": 0.0}
#: No other forces on a body.
UNPUSHED = {"thrust": 0.0, "virtual_force": 0.0}


class Attitude(Block):
    """Pass on a quaternion."""

    q: np.ndarray = Input(shape=(4,), start=(1.0, 0.0, 0.0, 0.0))
    y: np.ndarray = Output(shape=(4,))

    def step(self, t, h):
        self.y[:] = self.q


class Rotor(Block):
    """A quaternion that turns about an axis with 40 rad/s."""

    q: np.ndarray = Output(shape=(4,), start=(1.0, 0.0, 0.0, 0.0), depends_on=())

    def initialise(self, t):
        self.step(t, 0.0)

    def step(self, t, h):
        half = 20.0 * (t + h)
        self.q[:] = [np.cos(half), 0.6 * np.sin(half), 0.0, 0.8 * np.sin(half)]


def plant(plants, name, **values):
    """Return an FMU of the project with values of its parameters and inputs."""
    return fmu(plants / f"{name}.fmu").with_values(values)


def body_at_contact(
    body,
    contact,
    *,
    name="docking",
    names=("body", "contact"),
    motion=None,
    velocity=None,
    force=None,
):
    """Return a body that moves side a of a contact, whose force acts on the body.

    name, names: Of the system and of both components.
    motion, force: Attributes of these connections, such as ``{"delay": "16 ms"}``.
    velocity: Those of the velocity, if they are others than those of the position.
    """
    one, other = names
    velocity = motion if velocity is None else velocity
    return (
        System(name)
        .add(one, body)
        .add(other, contact)
        .connect(f"{one}.position", f"{other}.position_a", **(motion or {}))
        .connect(f"{one}.velocity", f"{other}.velocity_a", **(velocity or {}))
        .connect(f"{other}.force_a", f"{one}.force", **(force or {}))
    )


def bodies_at_contact(bodies, contact, *, names=("a", "b", "contact"), **line):
    """Return two bodies, each at its side of a contact.

    line: Attributes of the connections of their motions.
    """
    system = System("pair").add(names[0], bodies[0]).add(names[1], bodies[1])
    system = system.add(names[2], contact)
    for name, side in zip(names, "ab", strict=False):
        for quantity in ("position", "velocity"):
            target = f"{names[2]}.{quantity}_{side}"
            system = system.connect(f"{name}.{quantity}", target, **line)
        system = system.connect(f"{names[2]}.force_{side}", f"{name}.force")
    return system


def body_and_spring(forth=None, back=None, *, parts=None):
    """Return an integrator whose output comes back through a gain at once (``sample_blocks``).

    forth, back: Attributes of the connections to the gain and from it.
    parts: Other components for both.
    """
    body, spring = parts or (block("integrator"), block("gain"))
    return (
        System("ring")
        .add("body", body)
        .add("spring", spring)
        .connect("body.y", "spring.u", **(forth or {}))
        .connect("spring.y", "body.u", **(back or {}))
    )


def mixed(probe):
    """Return the probe FMU in a ring of Reals, Integers and Booleans (``sample_blocks``)."""
    return (
        System("mixed")
        .add("plant", fmu(probe), n=3)
        .add("types", block("typed"), flag=True)
        .add("gain", block("gain"), k=-0.3)
        .connect("plant.y", "gain.u", delay="2 ms")
        .connect("gain.y", "plant.u", offset=1.0)
        .connect("plant.m", "types.n", delay="1 ms")
        .connect("types.not_flag", "plant.flag")
    )


def bonded(_probe=None):
    """Return a body whose motion a virtual damper takes energy from: a power bond."""
    return (
        System("bonded")
        .add("chaser", block("body"), thrust=10.0, virtual_force=0.0)
        .add("damper", block("virtual_damper"), b=600.0)
        .connect("chaser.velocity", "damper.velocity")
        .connect("damper.force", "chaser.force")
    )
