"""Loops that no figure was made with: a body, an axis and a contact, against their own roots."""

import cmath
import math

import numpy as np
import pytest

from orchestrator import simulate
from orchestrator.core.master import Execution
from orchestrator.core.simunits import Block, Input, Output, Parameter, State, block
from orchestrator.core.system import System
from orchestrator.loops import linear_system


def exponential(matrix):
    """Return exp(matrix) by its series, of a matrix that is halved until that is short."""
    halvings = max(0, math.ceil(math.log2(max(1e-9, abs(matrix).sum(axis=1).max()))) + 4)
    found = term = np.eye(len(matrix))
    for k in range(1, 14):
        term = term @ matrix / (k * 2.0**halvings)
        found = found + term
    for _ in range(halvings):
        found = found @ found
    return found


class Oscillating(Block):
    """x'' = gain u - stiffness x - damping x', exactly for inputs that are cubics of time."""

    u: float = Input()
    x: float = Output(depends_on=())
    v: float = Output(depends_on=())
    gain: float = Parameter(start=1.0)
    stiffness: float = Parameter(start=0.0)
    damping: float = Parameter(start=0.0)
    x0: float = Parameter(start=0.01)
    state: list = State(start=[0.0, 0.0])

    def initialise(self, t):
        self.state = [self.x0, 0.0]
        self.x, self.v = self.state

    def follow(self, t, h, inputs):
        rates = np.zeros((6, 6))
        rates[0, 1] = 1.0
        rates[1, :3] = -self.stiffness, -self.damping, self.gain
        rates[[2, 3, 4], [3, 4, 5]] = 1.0
        self.state = (exponential(rates * h) @ [*self.state, *inputs["u"]])[:2].tolist()
        self.x, self.v = self.state


class Contact(Block):
    x: float = Input()
    v: float = Input()
    force: float = Output(depends_on=("x", "v"))
    k: float = Parameter(start=1.0)
    b: float = Parameter(start=1.0)

    def follow(self, t, h, inputs):
        powers = [h**n / math.factorial(n) for n in range(4)]
        self.force = float(-self.k * inputs["x"] @ powers - self.b * inputs["v"] @ powers)


#: Mass in kg, stiffness in N/m, damping in N s/m; the axis in Hz, its damping ratio; delays in ms
#: of its command and of what is measured of it; the step in ms.
CASES = {
    "40 Hz": ((750.0, 2510.0, 56.0), (40.0, 0.7), (16.0, None), 8.0),
    "55 Hz": ((300.0, 29300.0, 1600.0), (55.0, 0.7), (None, 40.4), 8.35),
    "44 Hz": ((60.0, 13200.0, 900.0), (44.0, 0.9), (None, 40.5), 7.06),
    "58 Hz": ((500.0, 11630.0, 520.0), (58.0, 0.6), (35.1, None), 6.4),
    "2 Hz": ((100.0, 99.0, 12.0), (2.0, 0.7), (11.1, 11.1), 3.09),
}


def loop(body, axis, delays):
    (m, k, b), ratio, w = body, axis[1], 2.0 * math.pi * axis[0]
    late = [{} if ms is None else {"delay": f"{ms} ms"} for ms in delays]
    return (
        System("held out")
        .add("body", block(Oscillating), gain=1.0 / m)
        .add("axis", block(Oscillating), gain=w * w, stiffness=w * w, damping=2 * ratio * w)
        .add("contact", block(Contact), k=k, b=b)
        .connect("body.x", "axis.u", **late[0])
        .connect("axis.x", "contact.x", **late[1])
        .connect("axis.v", "contact.v", **late[1])
        .connect("contact.force", "body.u")
    )


def rightmost(body, axis, delays):
    """Return the rightmost root of the characteristic equation, by Newton from a grid of starts."""
    (m, k, b), w, ratio = body, 2.0 * math.pi * axis[0], axis[1]
    tau = sum(ms or 0.0 for ms in delays) / 1e3
    found = []
    for real in (-0.2, 0.0, 0.2):
        for part in (0.5, 1.0, 1.5):
            s = complex(real, part) * math.sqrt(k / m)
            for _ in range(50):
                late = w * w * cmath.exp(-s * tau)
                own, lag = m * s * s, s * s + 2 * ratio * w * s + w * w
                slope = 2 * m * s * lag + own * (2 * s + 2 * ratio * w)
                slope += late * (b - tau * (k + b * s))
                s -= (own * lag + (k + b * s) * late) / slope
            found.append(s)
    return max((s for s in found if s.imag > 0.0), key=lambda s: s.real)


def growth(system, root, **options):
    accounts = linear_system(system, **options).loop_accounts()
    return min((m.sampled for a in accounts for m in a.modes), key=lambda s: abs(s - root)).real


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("algorithm", ["gauss-seidel", "jacobi"])
def test_growth_by_default_is_that_of_the_delay_equation(case, algorithm):
    """Held inputs have the wrong sign in four of the five; undelayed lines of Jacobi had, too."""
    *parts, step = CASES[case]
    root, system = rightmost(*parts), loop(*parts)
    found = growth(system, root, step=f"{step} ms", algorithm=algorithm)
    assert found == pytest.approx(root.real, abs=5e-6)
    if case != "2 Hz":
        held = growth(system, root, step=f"{step} ms", algorithm=algorithm, delay="mean")
        assert held * root.real < 0.0


def test_what_is_known_to_be_wrong_is_said_first():
    """In the remarks of a result, and by an execution; nothing where it is right."""
    *parts, step = CASES["40 Hz"]
    system, options = loop(*parts), {"step": f"{step} ms", "stop": "0.2 s"}
    with Execution(system, **options, delay="mean") as run:
        (said,) = run.warnings
    assert "instead of decaying at" in said
    assert simulate(system, **options, delay="mean").remarks[0] == said
    with Execution(system, **options) as run:
        assert run.warnings == ()
    assert simulate(system, **options).warnings() == ()


@pytest.mark.parametrize("mode", ["waveform", "mean"])
@pytest.mark.parametrize(
    ("algorithm", "tolerances"),
    [
        ("step-doubling", {"relative": 1e-3, "absolute": 1e-2}),
        ("embedded", {"relative": 1e-2, "absolute": 1e-2}),
    ],
)
def test_steps_that_vary_keep_what_a_delay_reads(algorithm, tolerances, mode):
    """A first step near the delay, then shorter ones: far back, and never ahead of a sample."""
    (m, k, b), axis, delays = (300.0, 3000.0, 400.0), (12.0, 0.7), (8.0, 20.0)
    root = rightmost((m, k, b), axis, delays)
    system = loop((m, k, b), axis, delays)
    options = {"algorithm": algorithm, "algorithm_options": tolerances, "delay": mode}
    run = simulate(system, step="7 ms", stop="1 s", **options)
    assert np.diff(run.time).max() <= 20e-3 + 1e-12
    # A decaying oscillation obeys x'' = 2 Re(s) x' - |s|^2 x once what faded is gone.
    late = run.time > 0.5
    x, v = run["body.x"][late], run["body.v"][late]
    a = run["contact.force"][late] / m
    fitted, *_ = np.linalg.lstsq(np.column_stack([v, x]), a, rcond=None)
    assert fitted[0] / 2 == pytest.approx(root.real, abs=1e-3 if mode == "waveform" else 5e-2)
