"""The hydraulic manipulator against its reference, and the steps at which its couplings diverge.

python examples/manipulator/manipulator.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from systems import COUPLINGS

from orchestrator import Result, SoftdockError, simulate
from orchestrator.loops import linear_system

HERE = Path(__file__).parent
FILES = {1: "steps.csv", 2: "sine.csv"}
#: Of the reference, and what it is called in a run.
NAMES = {"s": "arm.s", "sd": "arm.rate", "p1": "cylinder.p1", "p2": "cylinder.p2"}
SHORT_MS, STOP = 0.1, 10.0


def reference(manoeuvre: int) -> dict[str, Any]:
    """Read the published solution: one array for each column, every 10 ms."""
    table = np.genfromtxt(HERE / "reference" / FILES[manoeuvre], delimiter=",", names=True)
    return {name: table[name] for name in ("t", *NAMES, "f")}


def run(coupling: str, manoeuvre: int, step_ms: float, **options: Any) -> Result:
    """Run it for 10 s."""
    chosen = {"algorithm": "gauss-seidel", "delay": "waveform", **options}
    names = [*NAMES.values(), "cylinder.force"]
    system = COUPLINGS[coupling](manoeuvre)
    return simulate(system, step=f"{step_ms} ms", stop=f"{STOP} s", record=names, **chosen)


def independent(manoeuvre: int) -> dict[str, Any]:
    """Integrate all equations at once by SciPy; nothing of it is Softdock's."""
    area, friction, pump, tank, held = 0.0065, 1e5, 7.6e6, 1e5, 8829.0
    begin = 0.5 * (pump + tank - held / area)
    rest = 1.0 / (1.0 + np.sqrt((pump - begin) / (begin - tank)))

    def valve(t: float) -> float:
        if manoeuvre == 2:
            share = 0.1 * min(t, 1.0) if t <= 8.0 else 0.1 * max(9.0 - t, 0.0)
            return float(rest * (1.0 - share * np.sin(4.0 * np.pi * t)))
        down, up = np.clip([(t - 2.0) / 1e-3, (t - 6.0) / 2e-3], 0.0, 1.0)
        return float(rest - 0.01 * down + 0.03 * up)

    def rates(t: float, y: Any) -> list[float]:
        a1, a2, w1, w2, p1, p2 = y
        s = np.sqrt(1.0 - np.sqrt(3.0) / 2.0 * np.cos(a1))
        arm = np.sqrt(3.0) / 4.0 * np.sin(a1) / s
        force = (p2 - p1) * area - friction * arm * w1
        mass = np.array([[200.0 / 3 + 350.0, 50.0 * np.cos(a1 - a2)], [0.0, 25.0]])
        mass[1, 0] = mass[0, 1]
        turn = 50.0 * np.sin(a1 - a2)
        pull = [
            arm * force - 9.81 * 450.0 * np.cos(a1) - turn * w2**2,
            -9.81 * 50.0 * np.cos(a2) + turn * w1**2,
        ]
        k, flow = valve(t), 5e-4 * 0.67 * np.sqrt(2.0 / 850.0)

        def stiff(p: float, way: float) -> float:
            bulk = (1.0 + 6.53e-10 * p - 1.19e-18 * p * p) / (6.53e-10 - 2.38e-18 * p)
            return float(bulk / (area * way))

        def through(p: float) -> tuple[float, float]:
            return np.sqrt(max(pump - p, 0.0)), np.sqrt(max(p - tank, 0.0))

        (in1, out1), (in2, out2) = through(p1), through(p2)
        fed = area * arm * w1
        return [
            w1,
            w2,
            *np.linalg.solve(mass, pull),
            stiff(p1, 0.721 - s) * (fed + flow * (k * in1 - (1.0 - k) * out1)),
            stiff(p2, s - 0.279) * (-fed + flow * ((1.0 - k) * in2 - k * out2)),
        ]

    start = [np.pi / 6, -np.pi / 2, 0.0, 0.0, begin, pump + tank - begin]
    times = reference(manoeuvre)["t"]
    found = solve_ivp(
        rates, (0.0, STOP), start, "LSODA", times, rtol=1e-10, atol=1e-10, max_step=5e-4
    )
    a1, _, w1, _, p1, p2 = found.y
    s = np.sqrt(1.0 - np.sqrt(3.0) / 2.0 * np.cos(a1))
    rate = np.sqrt(3.0) / 4.0 * np.sin(a1) / s * w1
    return {"t": times, "s": s, "sd": rate, "p1": p1, "p2": p2}


def errors(found: dict[str, Any], right: dict[str, Any]) -> dict[str, float]:
    """Return the largest difference of each signal, as a share of the range of the right one."""
    return {
        name: float(np.abs(found[name] - right[name]).max() / np.ptp(right[name])) for name in NAMES
    }


def of_run(result: Result, times: Any) -> dict[str, Any]:
    """Return the signals of a run at the times of the reference."""
    rows = np.searchsorted(result.time, times - 1e-9)
    return {name: result[signal][rows] for name, signal in NAMES.items()}


def growth(coupling: str, step_ms: float) -> float:
    """Return the largest growth rate of the fast modes at rest under plain Jacobi, 1/s.

    The arm itself falls slowly out of its rest, at 0.245 1/s, and its second rod swings at 0.7 Hz.
    """
    linear = linear_system(
        COUPLINGS[coupling](), step=f"{step_ms} ms", algorithm="jacobi", delay="plain"
    )
    (loop,) = linear.loop_accounts()
    slow = [mode for mode in loop.modes if mode.exact is not None and abs(mode.exact) < 10.0]
    return max(mode.growth for mode in loop.modes if mode not in slow)


def diverging_step(coupling: str, low: float = 5.0, high: float = 100.0) -> float | None:
    """Return the longest stable step in ms; ``None`` if steps up to 100 ms are stable."""
    if growth(coupling, high) < 0.0:
        return None
    while high / low > 1.0005:
        middle = round(float(np.sqrt(low * high)), 3)
        low, high = (middle, high) if growth(coupling, middle) < 0.0 else (low, middle)
    return high


def by_hand(angle: float = np.pi / 6) -> float:
    """Return that step of the force in ms, by hand, with the first rod at an angle in rad.

    The cylinder brakes the mass m behind it by friction, and by oil that passes the valve:
    (c + c_oil) v, a step late and held for a step, so v[k+1] = v[k] - (c + c_oil) H/m v[k-1], which
    is neutral at H = m/(c + c_oil).
    """
    arm = np.sqrt(3.0) / 4.0 * np.sin(angle) / np.sqrt(1.0 - np.sqrt(3.0) / 2.0 * np.cos(angle))
    m11, m12, m22 = 200.0 / 3.0 + 350.0, -50.0 * np.sin(angle), 25.0
    mass = (m11 - m12**2 / m22) / arm**2
    begin = 0.5 * (7.7e6 - 8829.0 / 0.0065)
    over, under = 7.6e6 - begin, begin - 1e5
    valve = 1.0 / (1.0 + np.sqrt(over / under))
    leak = valve / np.sqrt(over) + (1.0 - valve) / np.sqrt(under)  # twice what a Pascal changes
    flow = 5e-4 * 0.67 * np.sqrt(2.0 / 850.0)
    oil = 2.0 * 0.0065**2 / (0.5 * flow * leak)  # both chambers are alike: p1 + p2 = pump + tank
    return float(1e3 * mass / (1e5 + oil))


def leaves(coupling: str, step_ms: float) -> bool:
    """Whether manoeuvre 1 under plain Jacobi is 5 mm off the reference, or fails."""
    right = reference(1)
    try:
        found = run(coupling, 1, step_ms, algorithm="jacobi", delay="plain")
    except SoftdockError:  # pressures beyond all bounds
        return True
    length = np.interp(right["t"], found.time, found["arm.s"])
    return not bool(np.abs(length - right["s"]).max() < 5e-3)


def main() -> None:
    """Print the tables."""
    for manoeuvre in FILES:
        right = reference(manoeuvre)
        made = {"independent integration": independent(manoeuvre)}
        for coupling in COUPLINGS:
            made[coupling] = of_run(run(coupling, manoeuvre, SHORT_MS), right["t"])
        for name, found in made.items():
            row = " ".join(f"{key} {value:.2e}" for key, value in errors(found, right).items())
            print(f"manoeuvre {manoeuvre}, {name:24} {row}")  # noqa: T201
    print(f"by force: neutral at {by_hand():.4g} ms at rest, by hand")  # noqa: T201
    print(f"and at {by_hand(0.7304):.4g} ms where the cylinder is 0.596 m long")  # noqa: T201
    for coupling in COUPLINGS:
        step = diverging_step(coupling)
        said = "no step up to 100 ms" if step is None else f"steps from {step:.4g} ms on"
        print(f"by {coupling}: {said} diverge at rest, by the map of a step")  # noqa: T201
        off = [
            step for step in (10, 12.5, 15, 16, 17, 18, 20, 25, 40, 50) if leaves(coupling, step)
        ]
        print(f"by {coupling}: 5 mm off the reference with {off} ms")  # noqa: T201


if __name__ == "__main__":
    main()
