"""Reference results of the Modelica examples, from equations written down a second time.

Each function returns named columns over the times given. Closed forms where there are any; else
SciPy's DOP853 with ``rtol`` 1e-10. No code of the exporter takes part. In ``tests``
``python -m reference.references`` writes ``modelica/SpaceDocking/Resources/Reference``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from reference.impacts import RTOL, Array, Columns, ball_drop, ball_on_spring, motor_stick
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

FOLDER = Path(__file__).parents[2] / "modelica/SpaceDocking/Resources/Reference"
FORMAT = "%.12g"


def integrate(right: Callable[[float, Array], Array], start: Array, times: Array) -> Array:
    """States at the times, one row each."""
    solution = solve_ivp(
        right, (times[0], times[-1]), start, "DOP853", times, rtol=RTOL, atol=RTOL * 1e-2
    )
    assert solution.success, solution.message
    return np.asarray(solution.y)


def axis_step(times: Array) -> Columns:
    """Step response of a damped oscillator."""
    command, zeta, omega = 0.01, 0.7, 2 * np.pi * 15
    damped = omega * np.sqrt(1 - zeta**2)
    decay = np.exp(-zeta * omega * times)
    phase = np.cos(damped * times) + zeta / np.sqrt(1 - zeta**2) * np.sin(damped * times)
    velocity = command * omega**2 / damped * decay * np.sin(damped * times)
    return {"axis.position": command * (1 - decay * phase), "axis.velocity": velocity}


def two_body_impact(times: Array) -> Columns:
    """Uniform motion, half a sine of the reduced mass on the spring, uniform motion."""
    m1, m2, k, gap, v0 = 750.0, 1e6, 1000.0, 0.003, 0.03
    omega = np.sqrt(k * (m1 + m2) / (m1 * m2))
    begin, end = gap / v0, gap / v0 + np.pi / omega
    contact = np.clip(times - begin, 0, end - begin)
    compression = v0 / omega * np.sin(omega * contact)
    rate = v0 * np.cos(omega * contact)  # relative velocity, also before and after
    centre = m1 * v0 / (m1 + m2)
    distance = -gap + v0 * np.minimum(times, begin) + compression - v0 * np.maximum(times - end, 0)
    middle = (-m1 * gap) / (m1 + m2) + centre * times
    return {
        "chaser.position": middle + m2 / (m1 + m2) * distance,
        "chaser.velocity": centre + m2 / (m1 + m2) * rate,
        "target.position": middle - m1 / (m1 + m2) * distance,
        "target.velocity": centre - m1 / (m1 + m2) * rate,
    }


def arm_swing(times: Array) -> Columns:
    """Newton's law of both centres of mass, projected on the joint angles."""
    masses, inertias, g = (4.0, 3.0), (0.09, 0.04), 9.81
    arms = (np.array([0.25, 0.0]), np.array([0.5, 0.2]))  # of each centre of mass along the links

    def right(_: float, x: Array) -> Array:
        angles, rates = np.cumsum(x[:2]), np.cumsum(x[2:])  # of the links from the x axis
        matrix, force = np.zeros((2, 2)), np.zeros(2)
        for body, (mass, inertia, arm) in enumerate(zip(masses, inertias, arms, strict=True)):
            along = np.array([np.cos(angles), np.sin(angles)]) * arm
            across = np.array([-np.sin(angles), np.cos(angles)]) * arm
            jacobian = np.column_stack([across.sum(axis=1), across[:, 1]])
            turn = np.array([1.0, float(body)])
            matrix += mass * jacobian.T @ jacobian + inertia * np.outer(turn, turn)
            force += mass * jacobian.T @ (along @ rates**2 + np.array([0.0, -g]))
        return np.concatenate([x[2:], np.linalg.solve(matrix, force)])

    y = integrate(right, np.array([-1.2, 0.5, 0.0, 0.0]), times)
    return dict(zip(("arm.phi[1]", "arm.phi[2]", "arm.w[1]", "arm.w[2]"), y, strict=True))


def tumbling_body(times: Array) -> Columns:
    """Angular momentum in the world frame is constant; the attitude is a matrix of nine states."""
    inertia = np.diag([10.0, 15.0, 20.0])
    rate = np.array([0.01, 2.0, 0.01])
    momentum = inertia @ rate  # the world frame is the body frame at the start

    def body_rate(matrix: Array) -> Array:
        return np.asarray(np.linalg.solve(inertia, matrix.T @ momentum))

    def right(_: float, x: Array) -> Array:
        matrix = x.reshape(3, 3)
        # Each row r of the matrix turns by r x w.
        return np.asarray(np.cross(matrix, body_rate(matrix)).ravel())

    matrices = integrate(right, np.eye(3).ravel(), times).T.reshape(-1, 3, 3)
    rates = np.array([body_rate(matrix) for matrix in matrices])
    quaternions = Rotation.from_matrix(matrices).as_quat()[:, [3, 0, 1, 2]]
    for i in range(1, len(times)):
        if quaternions[i] @ quaternions[i - 1] < 0:
            quaternions[i] *= -1
    columns = {f"body.w[{i + 1}]": rates[:, i] for i in range(3)}
    return columns | {f"body.q[{i + 1}]": quaternions[:, i] for i in range(4)}


def rope_snap(times: Array) -> Columns:
    """Forces as the gradient of the energies of stretching and bending."""
    n, length, mass, stretch, bend = 31, 1.0, 0.3, 500.0, 0.02
    s = length / (n - 1)
    x = np.arange(n) * s
    start = np.column_stack([x, 0.05 * x**2, np.zeros(n)])

    def right(_: float, state: Array) -> Array:
        r, v = state.reshape(2, n, 3)
        gradient = np.zeros((n, 3))
        segment = np.diff(r, axis=0)
        now = np.linalg.norm(segment, axis=1, keepdims=True)
        pull = stretch * (now / s - 1) * segment / now
        gradient[:-1] -= pull
        gradient[1:] += pull
        bow = bend / s**3 * np.diff(r, 2, axis=0)
        gradient[:-2] += bow
        gradient[1:-1] -= 2 * bow
        gradient[2:] += bow
        return np.concatenate([v.ravel(), (-gradient * n / mass).ravel()])

    y = integrate(right, np.concatenate([start.ravel(), np.zeros(3 * n)]), times)
    r = y[: 3 * n].reshape(n, 3, -1)
    return {
        f"rope.r[{node + 1},{axis + 1}]": r[node, axis]
        for node in (0, 7, 15, 30)
        for axis in (0, 1)
    }


def leg_step(times: Array) -> Columns:
    """A linear system: the matrix exponential, with the load as two more states."""
    step, pull, rise, length0 = 0.001, -500.0, 0.05, 1.8
    L, R, Ke, KT, J, B, beta, m = 4e-3, 1.0, 0.5, 0.5, 2e-3, 2e-3, 20.0, 40.0
    turn = 2 * np.pi / 0.01
    gain_p, corner = 2 * np.pi * 15, 2 * np.pi * 10
    inertia = J + m / turn**2
    gain_v = 2 * np.pi * 80 * inertia / KT
    # States: length - command, shaft rate, integral, current, load, 1.
    A = np.zeros((6, 6))
    A[0, 1] = 1 / turn
    A[1, [1, 3, 4]] = np.array([-B, KT, 1 / turn]) / inertia
    A[2, [0, 1]] = -turn * gain_p, -1.0
    A[3, [0, 1, 2, 3]] = (
        -beta * gain_v * turn * gain_p / L,
        -(beta * gain_v + Ke) / L,
        beta * gain_v * corner / L,
        -(beta + R) / L,
    )
    A[4, [4, 5]] = -1 / rise, pull / rise
    start = np.array([-step, 0.0, 0.0, 0.0, 0.0, 1.0])
    y = np.array([expm(A * time) @ start for time in times])
    return {
        "leg.length": length0 + step + y[:, 0],
        "leg.velocity": y[:, 1] / turn,
        "leg.current": y[:, 3],
    }


def docking_swing(times: Array) -> Columns:
    """Three masses on a line, by the matrix exponential."""
    masses = np.array([50000.0, 300.0, 2000.0])  # station, end-effector, spacecraft
    links = np.array([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]])
    stiff, damp = (links.T @ np.diag(d) @ links for d in ((1.5e5, 5e4), (200.0, 100.0)))
    A = np.zeros((6, 6))
    A[:3, 3:] = np.eye(3)
    A[3:] = -np.hstack([stiff, damp]) / masses[:, None]
    start = np.array([0.0, 0.0, 0.01, 0.0, 0.0, 0.0])
    y = np.array([expm(A * time) @ start for time in times])
    bodies = dict(zip(("x_s", "x_e", "x_c", "v_s", "v_e", "v_c"), y.T, strict=True))
    gap, rate = y[:, 2] - y[:, 1], y[:, 5] - y[:, 4]
    columns = {f"docking.{name}": bodies[name] for name in ("x_s", "x_e", "x_c")}
    return columns | {"docking.position": gap, "docking.force": 5e4 * gap + 100.0 * rate}


# Example: function, stop time in seconds, number of intervals of the reference.
REFERENCES: dict[str, tuple[Callable[[Array], Columns], float, int]] = {
    "AxisStep": (axis_step, 0.5, 100),
    "TwoBodyImpact": (two_body_impact, 5.0, 100),
    "ArmSwing": (arm_swing, 2.0, 100),
    "TumblingBody": (tumbling_body, 20.0, 100),
    "RopeSnap": (rope_snap, 0.5, 100),
    "LegStep": (leg_step, 0.5, 100),
    "MotorStick": (motor_stick, 1.5, 150),
    "DockingSwing": (docking_swing, 5.0, 100),
    "BallDrop": (ball_drop, 3.0, 150),
    "BallOnSpring": (ball_on_spring, 2.0, 200),
}


def reference(example: str) -> Columns:
    """Columns of an example, ``time`` first."""
    function, stop, count = REFERENCES[example]
    times = np.linspace(0.0, stop, count + 1)
    return {"time": times, **function(times)}


def stored(example: str) -> Columns:
    """The reference as it is stored."""
    path = FOLDER / f"{example}.csv"
    names = path.read_text(encoding="utf-8").partition("\n")[0].strip('"').split('","')
    values = np.loadtxt(path, delimiter=",", skiprows=1)
    return dict(zip(names, values.T, strict=True))


def write() -> None:
    """Write all references."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for example in REFERENCES:
        columns = reference(example)
        header = ",".join(f'"{name}"' for name in columns)
        values = np.column_stack(list(columns.values()))
        path = FOLDER / f"{example}.csv"
        np.savetxt(path, values, FORMAT, ",", header=header, comments="")


if __name__ == "__main__":
    write()
