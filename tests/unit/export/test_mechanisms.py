"""Arm, rigid body and rope against SciPy (rtol 1e-10 or better), with conserved quantities."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmpy.validation import validate_fmu
from scipy.integrate import solve_ivp

from orchestrator.export import Solver, build_model

Vector = np.ndarray[Any, np.dtype[np.float64]]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["TwoLinkArm", "RigidBody", "WireRope"])
def test_description_is_valid(name: str, shipped_fmus: dict[str, Path]) -> None:
    assert validate_fmu(str(shipped_fmus[name])) == []


def _names(name: str, count: int) -> list[str]:
    return [f"{name}[{i}]" for i in range(1, count + 1)]


def _set(unit: Any, name: str, values: list[float]) -> None:
    unit.set(**dict(zip(_names(name, len(values)), values, strict=True)))


def _reference(right: Callable[..., Any], end: float, start: list[float]) -> Vector:
    found = solve_ivp(right, (0, end), start, rtol=1e-12, atol=1e-13, method="DOP853")
    result: Vector = found.y[:, -1]
    return result


def _arm(torque: list[float]) -> Callable[[float, Vector], Vector]:
    m1, m2, l1, c1, c2, j1, j2, g = 4, 3, 0.5, 0.25, 0.2, 0.09, 0.04, 9.81

    def right(_: float, s: Vector) -> Vector:
        a, b, wa, wb = s
        k = m2 * l1 * c2
        m12 = j2 + m2 * c2**2 + k * np.cos(b)
        m11 = j1 + j2 + m1 * c1**2 + m2 * (l1**2 + c2**2) + 2 * k * np.cos(b)
        lower = g * m2 * c2 * np.cos(a + b)
        h = [
            -k * np.sin(b) * (2 * wa * wb + wb**2) + g * (m1 * c1 + m2 * l1) * np.cos(a) + lower,
            k * np.sin(b) * wa**2 + lower,
        ]
        mass = np.array([[m11, m12], [m12, j2 + m2 * c2**2]])
        return np.concatenate([[wa, wb], np.linalg.solve(mass, np.subtract(torque, h))])

    return right


@pytest.mark.parametrize("torque", [[0.0, 0.0], [5.0, -2.0]])
def test_arm(
    torque: list[float], shipped_fmus: dict[str, Path], open_fmu: Callable[..., Any]
) -> None:
    arm = open_fmu(shipped_fmus["TwoLinkArm"]).initialize()
    _set(arm, "torque", torque)
    energy = arm.get("energy")[0]
    arm.step(0.01, 100)
    exact = _reference(_arm(torque), 1.0, [-1.2, 0.5, 0, 0])
    assert arm.get(*_names("phi", 2), *_names("w", 2)) == pytest.approx(exact.tolist(), abs=1e-9)
    if not any(torque):
        assert arm.get("energy")[0] == pytest.approx(energy, abs=1e-9)


def _rotation(q: Vector) -> Vector:
    s, a, n = q[0], q[1:], q @ q
    cross = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
    result: Vector = np.eye(3) + 2 * (s * cross + cross @ cross) / n
    return result


def _body(_: float, s: Vector) -> Vector:
    v, q, w = s[3:6], s[6:10], s[10:]
    inertia = np.array([[10, 1, 0], [1, 15, -2], [0, -2, 20]])
    rotation = _rotation(q)
    force = np.array([1, 2, 3]) + rotation @ np.array([10, 0, 0])
    torque = rotation.T @ np.array([0, 0, 4]) + np.array([1, 0, -1])
    dq = 0.5 * np.concatenate([[-q[1:] @ w], q[0] * w + np.cross(q[1:], w)])
    dw = np.linalg.solve(inertia, torque - np.cross(w, inertia @ w))
    return np.concatenate([v, force / 100, dq, dw])


def test_body_with_forces_in_both_frames(
    shipped_fmus: dict[str, Path], open_fmu: Callable[..., Any]
) -> None:
    body = open_fmu(shipped_fmus["RigidBody"])
    off_diagonal = {"J[1,2]": 1.0, "J[2,1]": 1.0, "J[2,3]": -2.0, "J[3,2]": -2.0}
    body.initialize(**off_diagonal, **{"w0[1]": 0.3, "w0[2]": -0.2, "w0[3]": 1.0})
    _set(body, "force", [1.0, 2.0, 3.0])
    _set(body, "force_body", [10.0, 0.0, 0.0])
    _set(body, "torque", [0.0, 0.0, 4.0])
    _set(body, "torque_body", [1.0, 0.0, -1.0])
    body.step(0.01, 500)
    exact = _reference(_body, 5.0, [0] * 6 + [1, 0, 0, 0, 0.3, -0.2, 1.0])
    got = body.get(*_names("r", 3), *_names("v", 3), *_names("q", 4), *_names("w", 3))
    assert got == pytest.approx(exact.tolist(), abs=1e-9)


def test_tumbling_body_keeps_energy_and_momentum(
    shipped_fmus: dict[str, Path], open_fmu: Callable[..., Any]
) -> None:
    body = open_fmu(shipped_fmus["RigidBody"])
    body.initialize(**{"w0[1]": 0.01, "w0[2]": 2.0, "w0[3]": 0.01})
    names = ("energy", *_names("momentum", 3))
    before = body.get(*names)
    body.step(0.01, 2000)
    assert body.get("w[2]")[0] < 1.9  # it has tumbled
    assert body.get(*names) == pytest.approx(before, abs=1e-8)
    assert sum(x**2 for x in body.get(*_names("q", 4))) == pytest.approx(1, abs=1e-9)


_N, _S, _M = 31, 1 / 30, 0.3 / 31


def _rope(force: Vector, damping: float) -> Callable[[float, Vector], Vector]:
    def right(_: float, s: Vector) -> Vector:
        r, v = s.reshape(2, _N, 3)
        segment, rate = np.diff(r, axis=0), np.diff(v, axis=0)
        e = np.linalg.norm(segment, axis=1)[:, None]
        tension = 500 * (e / _S - 1) + damping / e * np.sum(segment * rate, axis=1)[:, None]
        total = np.zeros((_N, 3))
        total[:-1] += tension * segment / e
        total[1:] -= tension * segment / e
        bow = np.diff(r, n=2, axis=0) * 0.02 / _S**3
        total[:-2] -= bow
        total[1:-1] += 2 * bow
        total[2:] -= bow
        total[-1] += force
        return np.concatenate([v.ravel(), (total / _M).ravel()])

    return right


def _rope_states(rope: Any) -> list[float]:
    places = [f"[{i},{j}]" for i in range(1, _N + 1) for j in (1, 2, 3)]
    values: list[float] = rope.get(*(f"{name}{place}" for name in "rv" for place in places))
    return values


@pytest.fixture(scope="module")
def fine_rope(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rope with steps of 10 us: RK4's error falls by 625 against the recipe's 50 us."""
    root = Path(__file__).parents[3] / "modelica"
    output = tmp_path_factory.mktemp("rope")
    return build_model("SpaceDocking.Ropes.WireRope", root, output, solver=Solver("rk4", 1e-5)).path


@pytest.mark.slow
@pytest.mark.parametrize("damping", [0.0, 0.5])
def test_rope(damping: float, fine_rope: Path, open_fmu: Callable[..., Any]) -> None:
    rope = open_fmu(fine_rope).initialize(curvature=1.0, d=damping)
    force = [0.5, -1.0, 2.0]
    _set(rope, "force_b", force)
    start = _rope_states(rope)
    rope.step(0.001, 50)
    exact = _reference(_rope(np.array(force), damping), 0.05, start)
    places = np.array(_rope_states(rope))
    np.testing.assert_allclose(places[: 3 * _N], exact[: 3 * _N], rtol=0, atol=1e-8)
    momentum = _M * places[3 * _N :].reshape(_N, 3).sum(axis=0)
    np.testing.assert_allclose(momentum, 0.05 * np.array(force), atol=1e-12)


def test_free_rope_keeps_energy(fine_rope: Path, open_fmu: Callable[..., Any]) -> None:
    rope = open_fmu(fine_rope).initialize(curvature=1.0)
    before = rope.get("energy")[0]
    rope.step(0.001, 200)
    assert rope.get("energy")[0] == pytest.approx(before, rel=1e-7)
