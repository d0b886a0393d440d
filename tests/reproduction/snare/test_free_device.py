"""The snare on a device that floats and turns: what it keeps, and that no direction is special."""

import numpy as np
import pytest
from reproduction.snare.example import EXAMPLE, ROPES, part_of_the_example, vector
from scipy.spatial.transform import Rotation

from orchestrator import System, fmu, read_system, simulate
from orchestrator.core.simunits import resolve


def put(system, made, vectors):
    """Set arrays, or rows of arrays whose name ends with their number, to vectors."""
    for name, values in vectors.items():
        for element, value in made._elements(name, values).items():
            system = system.set(element, float(value))
    return system


def tumbling_device():
    """Another place, attitude, mass and inertia; device and target tumble about all axes."""
    made = part_of_the_example("systems")
    system = resolve(read_system(EXAMPLE / "free.ssd")).set("device.m", 130.0)
    system = system.set("target.m", 60.0)
    turn, way = Rotation.from_rotvec([0.7, -1.3, 0.9]), Rotation.from_rotvec([0.05, -0.08, 1.1])
    place, centre = np.array([0.3, -0.2, 0.5]), np.array([0.05, -0.03, -0.35])
    w, v = np.array([0.02, -0.03, 0.05]), np.array([0.02, 0.01, -0.015])
    omega, target = turn.apply(w), turn * way
    seen = turn.apply(np.array([0.012, -0.018, made.BASE]) - way.apply(made.SHAFT))
    vectors = {
        "device.centre": centre,
        "device.J[1": (22.0, 1.2, -0.7),
        "device.J[2": (1.2, 17.0, 0.9),
        "device.J[3": (-0.7, 0.9, 14.0),
        "device.frame_r0": place,
        "device.v0": v,
        "device.q0": np.roll(turn.as_quat(), 1),  # scalar first
        "device.w0": w,
        "target.r0": place + seen,
        "target.v0": v + np.cross(omega, seen - turn.apply(centre)),
        "target.q0": np.roll(target.as_quat(), 1),
        "target.w0": target.inv().apply(omega) + np.array([-0.03, 0.02, 0.05]),
    }
    for number, rope in enumerate(ROPES):
        vectors[f"{rope}.director0"] = turn.apply([0.0, 0.0, 1.0])
        for i, node in enumerate(made.open_rope(number * 2 * np.pi / 3), start=1):
            vectors[f"{rope}.x0[{i}"] = place + turn.apply(node)
    return put(system, made, vectors)


def whole_motion(run, mass):
    """Momentum and angular momentum about the origin of target, device and ropes, (n, 3) each."""
    target = mass * vector(run, "target.v")
    turning = np.cross(vector(run, "target.r"), target) + vector(run, "target.momentum")
    target += vector(run, "device.momentum")
    turning += vector(run, "device.angular_momentum")
    for rope in ROPES:
        target += vector(run, f"{rope}.momentum")
        turning += vector(run, f"{rope}.angular_momentum")
    return target, turning


@pytest.mark.slow
def test_target_ropes_and_device_keep_momentum_angular_momentum_and_energy(shipped_fmus):
    """What extrapolated lines leave of momenta falls with the square of the step; N s, N m s, J.

    Target and device get 2.9 N s and 1.6 N m s, all from the other.
    """
    ledger = part_of_the_example("ledger")
    left, peaks, later = [], [], []
    for step in ("1 ms", "0.5 ms"):
        run = simulate(tumbling_device(), step=step, stop="4 s", delay="mean")
        assert run["lock.locked"][-1] == 1
        assert np.ptp(vector(run, "device.momentum"), axis=0).max() > 2.5
        assert np.ptp(vector(run, "device.angular_momentum"), axis=0).max() > 1.5
        left.append([np.abs(one - one[0]).max() for one in whole_motion(run, 60.0)])
        pushes = np.array([run[f"{rope}.push"] for rope in ROPES])
        peaks.append(pushes[:, run.time < 2.0].max(axis=1))  # before the drag
        later.append(pushes.max(axis=1))
        found = ledger.parts(run)
        assert found["motor"] + found["screw"] > 6.0
        assert abs(found["at rings"] + found["at bodies"]) < 3e-3
        assert all(abs(found[part]) < 1e-4 for part in ("ring", "lock", *ROPES))
        closing = ledger.parts(run, until=len(run.time) // 2)  # before the drag
        assert abs(closing["at rings"] + closing["at bodies"]) < 2e-3
    assert np.all(np.array(left[0]) < (0.03, 0.03))
    assert np.all(np.array(left[1]) < 0.35 * np.array(left[0]))
    np.testing.assert_allclose(peaks[0], peaks[1], rtol=0.02)  # 1.3 %
    np.testing.assert_allclose(later[0], later[1], rtol=0.1)  # 4.6 %: who leaps back magnifies all


@pytest.mark.slow
def test_motion_that_is_followed_leaves_a_hundredth_about_the_axis(shipped_fmus):
    """Lines that are extrapolated are followed where their source is stepped first; N s, N m s."""
    steps = part_of_the_example("steps")
    run = simulate(steps.case("free"), step="1 ms", stop="4 s", delay="waveform")
    momentum, angular = (np.abs(one - one[0]).max(axis=0) for one in steps.motion(run))
    assert momentum.max() < 1e-3  # 6.2e-3 by straight lines
    assert angular[:2].max() < 1e-5  # 1.6e-4
    assert angular[2] < 1e-4  # 7.7e-3


def test_ring_and_device_turn_against_each_other(shipped_fmus):
    """In closed form, with a rotor that shows: no torque from outside, and a constant one between.

    J rate + J_turn w = T t and J3 w + J_turn rate = 0.
    """
    made = part_of_the_example("systems")
    torque, turn, own, whole = 0.3, 1.5, 2.57, 15.0  # N m; kg m2
    system = System("two")
    system = system.add(
        "ring", fmu(made.FMUS / "SnareRing.fmu"), viscous=0.0, J_turn=turn, motor_torque=torque
    )
    system = system.add("device", fmu(made.FMUS / "FreeDevice.fmu"), J_ring=turn)
    system = system.connect("ring.momentum", "device.ring_momentum")
    system = system.connect("device.w[3]", "ring.turning").with_extrapolation("linear")
    run = simulate(system, step="1 ms", stop="2 s")
    rate = torque * run.time / (own - turn**2 / whole)
    told = slice(2, None)  # lines have no slope before two samples
    np.testing.assert_allclose(run["ring.rate"][told], rate[told], atol=1e-9)
    np.testing.assert_allclose(run["device.w[3]"][told], -turn * rate[told] / whole, atol=1e-9)
    np.testing.assert_allclose(run["ring.angle"], rate * run.time / 2.0, atol=1e-6)
    np.testing.assert_allclose(run["device.spin[3]"], 0.0, atol=1e-12)
    held = run["ring.energy"] + run["device.energy"]
    np.testing.assert_allclose(held, run["ring.motor_work"], atol=1e-6)


def rope_and_target(way):
    """One open rope on rings that stand, turned ``way``, and a shaft that flies into it."""
    made = part_of_the_example("systems")
    system = System("turned").add("target", fmu(made.FMUS / "GrappleTarget.fmu"))
    system = system.add("ring", fmu(made.FMUS / "SnareRing.fmu"))
    system = system.add("device", fmu(made.FMUS / "DragScrew.fmu"))  # it stands
    system = made._rope(system, 0, "rope_1", free=True)
    outward = np.array([0.5, np.sqrt(0.75), 0.0])
    q = np.roll(way.as_quat(), 1)  # scalar first
    start = 0.1 * outward - made.SHAFT + [0.0, 0.0, made.BASE]
    vectors = {
        "target.r0": way.apply(start),
        "target.v0": way.apply(0.5 * outward),
        "target.q0": q,
        "rope_1.ring_q": q,
        "rope_1.ring_omega": np.zeros(3),
        "rope_1.director0": way.apply([0.0, 0.0, 1.0]),
    }
    nodes = made.open_rope(0.0)
    vectors |= {f"rope_1.x0[{i}": way.apply(place) for i, place in enumerate(nodes, start=1)}
    return put(system, made, vectors)


def test_a_rope_on_rings_that_are_turned_is_the_rope_turned(shipped_fmus):
    """All vectors turn with it, by any rotation; what has no direction stays."""
    turn = Rotation.from_rotvec([0.4, -1.1, 2.3])
    straight, turned = (
        simulate(rope_and_target(way), step="1 ms", stop="90 ms")
        for way in (Rotation.identity(), turn)
    )
    assert straight["rope_1.push"].max() > 1.0  # it meets the shaft
    for name in ("force_a", "force_b", "force", "torque", "ring_moment", "angular_momentum"):
        expected = turn.apply(vector(straight, f"rope_1.{name}"))
        scale = np.abs(expected).max()
        assert scale > 0.0
        np.testing.assert_allclose(vector(turned, f"rope_1.{name}"), expected, atol=1e-6 * scale)
    for name in ("ring_torque", "push", "energy"):
        expected = straight[f"rope_1.{name}"]
        np.testing.assert_allclose(
            turned[f"rope_1.{name}"], expected, atol=1e-6 * np.abs(expected).max()
        )
