"""The systems of the air table, built in Python; run it to write the .ssd files.

python examples/impact/systems.py
"""

from __future__ import annotations

from pathlib import Path

from orchestrator import DefaultExperiment, System, block, fmu, write_ssd

HERE = Path(__file__).parent
FMUS = HERE.parents[1] / "fmus" / "build"

# Cai, Chen, Luo, Wang (2021), section 4.1; k is fitted to Table 1, the paper does not give it.
M1, M2 = 38.4, 21.85  # kg, passive and active simulator
V0 = 0.09483  # m/s, row 1
K = 1.2e7  # N/m^1.5
C = 0.55  # restitution that the damping is made for
MU = 0.00905  # mean of Table 2
FREE = 1e-3  # s before the first touch

IMPACT = DefaultExperiment(stop_ns=40_000_000, step_ns=10_000, algorithm="gauss-seidel")
SLIDE = DefaultExperiment(stop_ns=5_000_000_000, step_ns=1_000_000, algorithm="gauss-seidel")


def _impact(name: str, description: str, kind: str, **values: float) -> System:
    """Two simulators, their contact, and their observed quantities."""
    rest = {"virtual_force": 0.0} | values  # a line that is drawn to it takes the place of the 0
    passive = {"m": M1, "v0": V0, "x0": -FREE * V0, "thrust": 0.0}
    source = fmu(FMUS / f"{kind}.fmu")
    system = (
        System(name, experiment=IMPACT, description=description)
        .add("passive", source, **passive, **rest)
        .add("active", source, **(passive | {"m": M2, "v0": 0.0, "x0": 0.0}), **rest)
        .add("contact", block("zhiying_qishao_table"), k=K, restitution=C)
        .add("encounter", block(f"{HERE}/parts.py:Encounter"), m_a=M1, m_b=M2)
        .connect("contact.force_a", "passive.force")
        .connect("contact.force_b", "active.force")
    )
    for body, side in (("passive", "a"), ("active", "b")):
        for what in ("position", "velocity"):
            # A delay of zero asks an exact master to take its own delay off these lines.
            system = system.connect(f"{body}.{what}", f"contact.{what}_{side}", delay=0.0)
            system = system.connect(f"{body}.{what}", f"encounter.{what}_{side}")
    return system


def impact() -> System:
    """Two satellite simulators without friction (Eq 4)."""
    return _impact("impact", "Two satellite simulators meet on an air table.", "Chaser")


def friction() -> System:
    """The same, each with the friction of its own air bearings."""
    text = "Two satellite simulators meet; each rubs on the table with its own weight."
    return _impact("friction", text, "AirBearing", mu=MU)


def constant() -> System:
    """The same with the constant f of Eq 10."""
    system = _impact("constant", "The constant f of Eq 10 beside the contact force.", "Chaser")
    return (
        system.add("rubbing", block(f"{HERE}/parts.py:ConstantFriction"))
        .connect("passive.position", "rubbing.position_a", delay=0.0)
        .connect("active.position", "rubbing.position_b", delay=0.0)
        .connect("rubbing.on_a", "passive.virtual_force")
        .connect("rubbing.on_b", "active.virtual_force")
    )


def slide() -> System:
    """The passive simulator is pushed by hand and stops (Figures 19 to 21)."""
    return (
        System("slide", experiment=SLIDE, description="Pushed by hand, then left to its friction.")
        .add("hand", block(f"{HERE}/parts.py:Push"))
        .add("passive", fmu(FMUS / "AirBearing.fmu"), m=M1, mu=0.0088, force=0.0, virtual_force=0.0)
        .connect("hand.force", "passive.thrust")
    )


SYSTEMS = {
    "SystemStructure.ssd": impact,
    "friction.ssd": friction,
    "constant.ssd": constant,
    "slide.ssd": slide,
}

if __name__ == "__main__":
    for file, make in SYSTEMS.items():
        write_ssd(make(), HERE / file, connectors=False)
