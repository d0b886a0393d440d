"""The systems in which a rod meets a wire rope; run it to write the .ssd and .ssv files.

python examples/impact/rope_systems.py
"""

from __future__ import annotations

from dataclasses import replace
from math import cos, radians, sin
from pathlib import Path

from orchestrator import DefaultExperiment, System, block, fmu, write_parameter_set, write_ssd
from python_blocks.ropes.planar_rope import PlanarRope
from python_blocks.ropes.rope_statics import equilibrium
from python_blocks.ropes.virtual_spring import fit_virtual_spring

HERE = Path(__file__).parent
FMUS = HERE.parents[1] / "fmus" / "build"

#: Cai, Chen, Luo, Wang (2021), section 4.2: 0.30 m over 0.26 m, 0.0365 kg/m, 30 sections, a natural
#: bend of 26 degrees in all, pinned.
STIFF = PlanarRope()
#: Fitted: the rope that has the force of Eq 46, with the clamps opened to the 26 degrees.
SOFT = PlanarRope(k_tes=7.019e4, k_tor=2.345, curvature=0.0, k_clamp=4.69)
EQ_46, CLAMPED = radians(13.0), radians(26.0)

M, V = 1.47, 0.06  # kg, assumed: the mean of 1.213, 1.505 and 1.699 kg; m/s
C_TOR, C_ROD = 2e-4, 5.0  # N.m.s/rad and N.s/m, assumed: the paper says no damping
NODES = (5, 10, 16, 20, 25)
ANGLES = (13, 20, 26, 33, 40)  # degrees, of the clamps in maps.toml
RUN = DefaultExperiment(stop_ns=250_000_000, step_ns=100_000, algorithm="gauss-seidel")


def clamped(angle: float) -> PlanarRope:
    """Return the soft rope with symmetrical clamps."""
    values = {name: getattr(SOFT, name) for name in ("k_tes", "k_tor", "curvature", "k_clamp")}
    return PlanarRope(**values, clamp_a=angle, clamp_b=-angle)


def _values(rope: PlanarRope, node: int) -> tuple[dict[str, float], float]:
    """Return the parameters and inputs of the plant, and the height of a node at rest."""
    rest = equilibrium(rope)
    values: dict[str, float] = {
        "k_tes": rope.k_tes,
        "k_tor": rope.k_tor,
        "k_clamp": rope.k_clamp,
        "curvature": rope.curvature,
        "c_tor": C_TOR,
        "c_rod": C_ROD,
        "node": node,
        **{f"{end}[{i}]": 0.0 for end in ("end_a", "end_b", "rate_a", "rate_b") for i in (1, 2)},
        "end_b[1]": rope.span,
        "clamp_a[1]": cos(rope.clamp_a),
        "clamp_a[2]": sin(rope.clamp_a),
        "clamp_b[1]": cos(rope.clamp_b),
        "clamp_b[2]": sin(rope.clamp_b),
    }
    for i, (x, y) in enumerate(rest.tolist(), start=1):
        values[f"x0[{i}]"], values[f"y0[{i}]"] = x, y
    return values, float(rest[node - 2, 1])


def rope(kind: PlanarRope, node: int, *, below: bool = False) -> System:
    """A rod of the effective mass meets a node of a rope from inside; or begins below all nodes."""
    values, height = _values(kind, node)
    text = "A capture rod meets a node of a wire rope."
    if below:
        height = min(_values(kind, other)[1] for other in NODES)
    return (
        System("rope", experiment=RUN, description=text)
        .add("rod", fmu(FMUS / "Chaser.fmu"), m=M, v0=V, x0=height - 1e-5, thrust=0.0)
        .set("rod.virtual_force", 0.0)
        .add("rope", fmu(FMUS / "PlanarRope.fmu"), **values)
        # The rope follows the rod within its step: a held rod would hit it again in each step.
        .connect("rod.position", "rope.position", extrapolation="linear")
        .connect("rod.velocity", "rope.velocity", extrapolation="linear")
        .connect("rope.force", "rod.force")
    )


def virtual(kind: PlanarRope, node: int) -> System:
    """The same rod against the virtual spring of that node (Eq 40 to 43)."""
    height = float(equilibrium(kind)[node - 2, 1])
    spring = fit_virtual_spring(kind, node, 3e-3)
    text = "A capture rod meets the virtual spring of a node of a wire rope."
    return (
        System("spring", experiment=RUN, description=text)
        .add("rod", fmu(FMUS / "Chaser.fmu"), m=M, v0=V, x0=height - 1e-5, thrust=0.0)
        .set("rod.virtual_force", 0.0)
        .add("spring", block("virtual_spring"), c=spring.table, span0=spring.span0)
        .set("spring.span", spring.span0)
        .set("spring.position_b", height)
        .set("spring.velocity_b", 0.0)
        .connect("rod.position", "spring.position_a", delay=0.0)
        .connect("rod.velocity", "spring.velocity_a", delay=0.0)
        .connect("spring.force_a", "rod.force")
    )


def systems() -> dict[str, System]:
    """Return both by the names of their files: node 16, clamps of the rope at 26 degrees."""
    return {
        "rope.ssd": rope(clamped(CLAMPED), 16),
        "spring.ssd": virtual(clamped(EQ_46), 16),
    }


def variants() -> dict[str, tuple[str, System]]:
    """Return the other ropes: the name of a parameter set, and whose values it changes to what."""
    found = {f"rope_{node:02}": rope(clamped(CLAMPED), node) for node in NODES if node != 16}
    for angle in ANGLES:
        found[f"clamp_{angle}"] = rope(clamped(radians(angle)), 16, below=True)
    found["rope_stiff"] = rope(STIFF, 16)
    found["rope_eq_46"] = rope(clamped(EQ_46), 16)
    changed = {name: ("rope.ssd", system) for name, system in found.items()}
    return changed | {"spring_stiff": ("spring.ssd", virtual(STIFF, 16))}


def _difference(new: System, base: System) -> System:
    """Return a system with only those values that another one has not."""
    parts = {
        name: replace(
            part,
            values={k: v for k, v in part.values.items() if v != base.components[name].values[k]},
        )
        for name, part in new.components.items()
    }
    return replace(new, components=parts)


if __name__ == "__main__":
    for file, system in systems().items():
        write_ssd(system, HERE / file, version="2.0", connectors=False)
    for name, (file, system) in variants().items():
        changes = _difference(system, systems()[file])
        write_parameter_set(changes, HERE / f"{name}.ssv", name=name, version="2.0")
