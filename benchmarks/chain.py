"""The chain of seven joints against Pinocchio and MuJoCo, in one run.

usage: python benchmarks/chain.py [--json FILE]

Right-hand side: the FMU's own sources compiled with the exporter's options, measured in C, as in
exporter.py; Pinocchio's articulated-body algorithm on a free base with the same links, in its own
loop over many states (``abaInParallel`` on one thread), so without any call from Python; MuJoCo's
``mj_step`` in the loop of ``rollout``: one forward dynamics and an update by Euler's method. Rounds
alternate; the best of each counts, as other work on the machine only adds. Ejections: attitude 2 in
space over one second, processor time of a run less that of one step.
"""

from __future__ import annotations

import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
from exporter import Plant, Unit
from mujoco import rollout
from runner import Benchmark

from orchestrator import System, fmu, simulate
from orchestrator.export import build_recipe
from orchestrator.export.codegen.compiler import library_command, run_compiler
from python_blocks.kinematics.assumed_arm import attitude, seven_joint_arm

RECIPE = Path(__file__).parents[1] / "examples/ejection/plants/SpatialArm.toml"
ROUNDS, STATES = 15, 2000


def in_c(path: Path, folder: Path) -> Unit:
    """The FMU's sources with the functions that measure them."""
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
    sources = folder / "sources"
    (sources / "exporter.c").write_bytes(Path(__file__).with_name("exporter.c").read_bytes())
    run_compiler(library_command("exporter.c", folder / "bench.so"), sources)
    return Unit(folder / "bench.so", Plant("SpatialArm", {}, 1e-3))


def pinocchio() -> Callable[[], float]:
    """Seconds of one articulated-body algorithm in a loop of Pinocchio's own."""
    arm = seven_joint_arm()
    model = pin.Model()
    model.gravity.linear[:] = 0.0
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    links = [pin.Inertia(*x) for x in zip(arm.mass, arm.center, arm.inertia, strict=True)]
    model.appendBodyToJoint(joint, links[0], pin.SE3.Identity())
    for axis, offset, link in zip(arm.axis, arm.offset, links[1:], strict=True):
        kind = pin.JointModelRZ() if axis[2] else pin.JointModelRY()
        joint = model.addJoint(joint, kind, pin.SE3(np.eye(3), offset), f"{joint}")
        model.appendBodyToJoint(joint, link, pin.SE3.Identity())
    random = np.random.default_rng(1)
    ends = np.ones(model.nq)
    q = np.array([pin.randomConfiguration(model, -ends, ends) for _ in range(STATES)])
    v, tau = random.normal(size=(2, model.nv, STATES))
    pool, out = pin.ModelPool(model, 1), np.zeros((model.nv, STATES), order="F")
    columns = (np.asfortranarray(q.T), np.asfortranarray(v), np.asfortranarray(tau))

    def measure() -> float:
        began = time.perf_counter()
        pin.abaInParallel(1, pool, *columns, out)
        return (time.perf_counter() - began) / STATES

    return measure


def in_mujoco() -> Callable[[], float]:
    """Seconds of one step of MuJoCo, in a loop of its own."""
    arm = seven_joint_arm()

    def link(i: int) -> str:
        diagonal = " ".join(f"{x:.17g}" for x in np.diag(arm.inertia[i]))
        center = " ".join(map(str, arm.center[i]))
        return f'<inertial mass="{arm.mass[i]}" pos="{center}" diaginertia="{diagonal}"/>'

    inner = ""
    for i in range(7, 0, -1):
        place, axis = (" ".join(map(str, x[i - 1])) for x in (arm.offset, arm.axis))
        inner = f'<body pos="{place}"><joint axis="{axis}"/>{link(i)}{inner}</body>'
    text = (
        '<mujoco><compiler angle="radian"/><option gravity="0 0 0" timestep="1e-6"/><worldbody>'
        f"<body><freejoint/>{link(0)}{inner}</body></worldbody></mujoco>"
    )
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[7:] = attitude(2)
    data.qvel[6:] = 0.1
    state = np.empty(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS))
    mujoco.mj_getState(model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)

    def measure() -> float:
        began = time.perf_counter()
        rollout.rollout(model, data, state, nstep=STATES)
        return (time.perf_counter() - began) / STATES

    return measure


def ejection(path: Path, step: str, turns: int) -> float:
    """How many times faster than real time one second of an ejection is stepped."""
    angles = {f"phi0[{i}]": float(a) for i, a in enumerate(attitude(2), 1)}
    system = System("space").add("arm", fmu(path), **angles)

    def seconds(stop: str) -> float:
        began = time.process_time()
        simulate(system, step=step, stop=stop, record=["arm.v[3]"])
        return time.process_time() - began

    whole, start = (min(seconds(stop) for _ in range(turns)) for stop in ("1 s", step))
    return 1.0 / (whole - start)


def main() -> None:
    """Measure and print."""
    benchmark = Benchmark(__doc__)
    quick = benchmark.options().quick
    with tempfile.TemporaryDirectory() as name:
        path = build_recipe(RECIPE, RECIPE.parent / "build").path
        unit, aba, step = in_c(path, Path(name)), pinocchio(), in_mujoco()
        instance = unit.create()
        count = 300 if quick else 3000
        steps = {"10 ms": 1} if quick else {"10 ms": 5, "1 ms": 5}
        rounds = [
            (unit._library.bench_rhs_seconds(instance, count) / count, aba(), step())  # noqa: SLF001
            for _ in range(2 if quick else ROUNDS)
        ]
        ours, theirs, mujocos = (1e9 * min(column) for column in zip(*rounds, strict=True))
        found: dict[str, Any] = {
            "rhs_ns": ours,
            "pinocchio_aba_ns": theirs,
            "mujoco_step_ns": mujocos,
            "rhs_by_aba": ours / theirs,
            "rhs_by_mujoco_step": ours / mujocos,
            "ejection_by_real_time": {h: ejection(path, h, turns) for h, turns in steps.items()},
        }
    benchmark.table("", ["figure", "value"], found.items())
    benchmark.finish(**found)


if __name__ == "__main__":
    main()
