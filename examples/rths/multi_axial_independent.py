"""The multi-axial benchmark without Softdock: as its published model computes it, sample by sample.

Newmark's average acceleration for whole and hybrid structure, held commands over each sample, and
backward differences of the measured motion for the force of the laboratory.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, expm
from scipy.signal import butter, lfilter, zpk2tf

Floats = NDArray[np.float64]
DATA = Path(__file__).parent / "records"
RATE = 1024.0
#: Degrees of freedom, from 0: first floor, rotations of the joints 7 and 6 of the laboratory's
#: frame, and of second and third floor the displacement and a rotation.
FLOOR, NEAR, FAR = 26, 20, 28
SEEN = (FLOOR, NEAR, 25, 21, 12, 2)
FLOORS = (26, 25, 12)
E_STEEL = 200e9
#: Rayleigh damping of 5 % at these, rad/s.
DAMPED = (13.493, 165.125, 0.05)
#: Axes of the actuators: arms in m from the joint, and their angles in rad.
ARM = float(np.hypot(0.2667, 0.127))
ANGLE = np.deg2rad([-25.4633, 25.4633])
#: Transfer functions of the control plant: zeros, poles in Hz, gain; row, then column.
FRAME_POLES = (-50 - 63j, -50 + 63j)
PLANT = {
    (0, 0): ((-120.0, -90.0), (-2.65, -40.0), 2165.2),
    (1, 0): ((-120.0, -90.0), (-2.65, -40.0), 349.95),
    (0, 1): ((-3.0,), (-3.5, -18.5), 4.5394e6),
    (1, 1): ((-5.0,), (-3.5, -18.5), 1.9238e7),
}


_LOW_PASS = butter(4, 20.0 / (RATE / 2.0))


def rayleigh(first: float, last: float, ratio: float) -> tuple[float, float]:
    """Return the shares of mass and stiffness in the damping, from two frequencies in rad/s."""
    return 2.0 * ratio * first * last / (first + last), 2.0 * ratio / (first + last)


def taken_out() -> tuple[Floats, Floats, float]:
    """Return stiffness, damping (3, 3) and mass that the computer leaves to the laboratory."""
    beam, column = 0.762, 0.635
    i_column, i_beam = 2.520 * 0.0254**4, 0.6132 * 0.0254**4
    a_column, a_beam = 1.670 * 0.0254**2, 0.947 * 0.0254**2
    mass_beam, mass_column = 785e3 * a_beam * beam, 785e3 * a_column * column
    m1 = mass_beam + mass_column
    m2 = mass_beam / 2.0 * beam**2 / 12.0 + mass_column / 2.0 * column**2 / 12.0
    side = -3.0 * E_STEEL * i_column / column**2
    turn = 3.0 * i_column * E_STEEL / column + 4.0 * i_beam * E_STEEL / beam
    other = -2.0 * i_beam * E_STEEL / beam
    k = np.array(
        [
            [6.0 * i_column * E_STEEL / column**3, side, side],
            [side, turn, other],
            [side, other, turn],
        ]
    )
    m = np.diag([m1, m2, m2])
    omega = np.sqrt(eigh(k, m, eigvals_only=True))
    by_mass, by_stiffness = rayleigh(float(omega[0]), float(omega[2]), 0.05)
    return k, by_mass * m + by_stiffness * k, m1


def specimen() -> tuple[Floats, Floats, Floats]:
    """Return K, C and M of the frame in the laboratory: (5, 5), of x and four rotations."""
    beam, column = 0.762, 0.64135
    ei, eb = E_STEEL * 2.520 * 0.0254**4 * 0.7, E_STEEL * 4.21372e-7
    s, c, n, f = 12 * ei / column**3, 6 * ei / column**2, 4 * ei / column, 2 * ei / column
    nb, fb = 4 * eb / beam, 2 * eb / beam
    k = np.array(
        [
            [2 * s, c, c, c, c],
            [c, n + nb, fb, 0, f],
            [c, fb, n + nb, f, 0],
            [c, 0, f, n, 0],
            [c, f, 0, 0, n],
        ]
    )
    mass_beam = 7.85e3 * 7.56e-4 * beam
    mass_column = 7.85e3 * 1.670 * 0.0254**2 * column
    mx = (mass_beam + 2 * mass_column) / 2 * 1.1
    mz = (mass_beam / 2 * beam**2 + mass_column / 2 * column**2) / 3 * 1.1
    mb = mass_column / 2 * column**2 / 3 * 1.1
    m = np.diag([mx, mz, mz, mb, mb])
    omega2, modes = eigh(k, m)
    damping = m @ (modes * (2.0 * 0.05 * np.sqrt(omega2))) @ modes.T @ m
    return k, damping, m


def to_actuators(x: float, theta: float) -> Floats:
    """Return the displacements of both axes, (2,), of a joint's displacement and rotation."""
    return x + ARM * (np.cos(theta + ANGLE) - np.cos(ANGLE))


def to_joint(axes: Floats) -> tuple[float, float]:
    """Return displacement and rotation of the joint, of both axes."""
    share = (axes[0] - axes[1]) / (2.0 * ARM * np.sin(ANGLE[1]))
    x = axes[0] - ARM * (np.cos(share + ANGLE[0]) - np.cos(ANGLE[0]))
    return float(x), float(np.arcsin(share))


def structure() -> tuple[Floats, Floats, Floats]:
    """Return K, C and M of the whole structure, (29, 29)."""
    k, m = (
        np.loadtxt(DATA / "multi_axial" / f"{name}.csv", delimiter=",")
        for name in ("stiffness", "mass")
    )
    by_mass, by_stiffness = rayleigh(*DAMPED)
    return k, by_mass * m + by_stiffness * k, m


def left() -> tuple[Floats, Floats, Floats]:
    """Return K, C and M of what stays in the computer, (29, 29)."""
    k, c, m = structure()
    k_out, c_out, m_out = taken_out()
    at = np.ix_((FLOOR, FAR, NEAR), (FLOOR, FAR, NEAR))
    k[at] -= k_out
    c[at] -= c_out
    m[FLOOR, FLOOR] -= m_out
    return k, c, m


class Newmark:
    """A structure of linear springs by average acceleration."""

    def __init__(self, k: Floats, c: Floats, m: Floats, h: float) -> None:
        self.m, self.c, self.h = m, c, h
        self.inverse = np.linalg.inv(k + 2.0 / h * c + 4.0 / h**2 * m)
        self.u, self.v, self.a = np.zeros((3, len(k)))
        self.ground = m @ np.isin(np.arange(len(k)), FLOORS)

    def step(self, ground: float, force: Floats) -> Floats:
        """Move to where the ground accelerates so, m/s2, and forces pull back so, N and N m."""
        u, v, a, h = self.u, self.v, self.a, self.h
        right = (
            self.m @ (4.0 / h**2 * u + 4.0 / h * v + a)
            + self.c @ (2.0 / h * u + v)
            - force
            - self.ground * ground
        )
        self.u = self.inverse @ right
        self.a = 4.0 / h**2 * (self.u - u) - 4.0 / h * v - a
        self.v = v + h / 2.0 * (a + self.a)
        return self.u


class Plant:
    """Both actuators with the frame between them, whose commands are held over a sample."""

    def __init__(self, h: float) -> None:
        blocks = {}
        for place, (zeros, poles, gain) in PLANT.items():
            roots = 2.0 * np.pi * np.array([*poles, *FRAME_POLES])
            top, below = zpk2tf(2.0 * np.pi * np.array(zeros), roots, gain)
            n = len(roots)
            a = np.zeros((n, n))
            a[:-1, 1:] = np.eye(n - 1)
            a[-1] = -np.real(below[:0:-1])
            c = np.zeros(n)
            c[: len(top)] = np.real(top[::-1])
            b = np.eye(n)[-1]
            held = expm(h * np.block([[a, b[:, None]], [np.zeros((1, n + 1))]]))
            blocks[place] = (held[:n, :n], held[:n, n], c)
        self.blocks = blocks
        self.states = {place: np.zeros(len(c)) for place, (_, _, c) in blocks.items()}

    def positions(self) -> Floats:
        """Return where both axes are, (2,)."""
        axes = np.zeros(2)
        for (row, column), state in self.states.items():
            axes[row] += self.blocks[row, column][2] @ state
        return axes

    def step(self, command: Floats) -> None:
        """Hold commands over a sample."""
        for place, (a, b, _) in self.blocks.items():
            self.states[place] = a @ self.states[place] + b * command[place[1]]


@dataclass(frozen=True)
class Compensator:
    """Adaptive finite impulse response of Quiroz et al. (2024), learned by recursive least squares.

    Parameters
    ----------
    taps, covariance
        Coefficients of the last four wanted positions, the newest first, (4,), and (4, 4).
    wanted, shown
        The last positions, and those that were measured behind the low-pass, mm, (4,).
    filters
        States of the low-pass of 20 Hz for measurement and command, (2, 4).
    """

    taps: Floats
    covariance: Floats
    wanted: Floats
    shown: Floats
    filters: Floats

    @classmethod
    def of(cls, axis: int, *, learns: bool = True) -> Compensator:
        """Return the published one of an axis, 0 or 1, at its start."""
        row = np.loadtxt(DATA / "multi_axial" / "compensators.csv", delimiter=",")[axis]
        zero = np.zeros(4)
        return cls(row[:4], learns * row[4:].reshape(4, 4), zero, zero, np.zeros((2, 4)))

    def after(self, wanted: float, measured: float) -> tuple[float, Compensator]:
        """Return the command of a sample, and the updated estimate; all positions in mm.

        Command and coefficients of a sample depend on each other: the low-pass passes a share b0
        of the command at once, and the command is what the new coefficients make of the wanted.
        """
        past = np.array([wanted, *self.wanted[:-1]])
        low, first = lfilter(*_LOW_PASS, [measured], zi=self.filters[0])
        x = np.array([low[0], *self.shown[:-1]])
        gain = self.covariance @ x / (1.0 + x @ self.covariance @ x)
        share, b0 = float(gain @ past), _LOW_PASS[0][0]
        before = float(self.taps @ past) + share * (self.filters[1, 0] - float(self.taps @ x))
        command = before / (1.0 - share * b0)
        sent, second = lfilter(*_LOW_PASS, [command], zi=self.filters[1])
        taps = self.taps + gain * (sent[0] - float(self.taps @ x))
        covariance = self.covariance - np.outer(gain, x) @ self.covariance
        return command, Compensator(taps, covariance, past, x, np.array([first, second]))


@dataclass(frozen=True)
class Run:
    """A hybrid run, and the whole structure.

    Parameters
    ----------
    hybrid, whole
        float64 of shape (n, 6): displacement of the first floor and rotation of its joint, of the
        second and third floor the same, m and rad.
    wanted, measured
        Of both axes, m, (n, 2).
    laboratory
        Displacement and rotation of the joint in the laboratory, m and rad, (n, 2).
    """

    hybrid: Floats
    whole: Floats
    wanted: Floats
    measured: Floats
    laboratory: Floats


def noise(seed: int, count: int) -> Floats:
    """Return what sensors of 12.4 um rms add to both axes, m, (count, 2); seed 0: nothing."""
    if not seed:
        return np.zeros((count, 2))
    drawn = 1e-3 * np.sqrt(1.5e-7 * RATE) * np.random.default_rng(seed).standard_normal((count, 2))
    drawn[0] = 0.0
    return drawn


def shaken(
    file: str, seed: int = 0, stop: float | None = None, *, learns: bool = True, scale: float = 0.4
) -> Run:
    """Run the benchmark under a record, until ``stop`` in s, with the compensators of both axes."""
    h = 1.0 / RATE
    record = np.loadtxt(DATA / file, delimiter=",", skiprows=1, unpack=True)
    steps = int((record[0, -1] if stop is None else stop) * RATE)
    ground = scale * np.interp(h * np.arange(steps + 1), *record)
    whole, hybrid, plant = Newmark(*structure(), h), Newmark(*left(), h), Plant(h)
    both = [Compensator.of(axis, learns=learns) for axis in range(2)]
    model, last = specimen(), (np.zeros(5), np.zeros(5))
    follows = np.vstack([np.eye(2), -np.linalg.solve(model[0][2:, 2:], model[0][2:, :2])])
    added, at_rest = noise(seed, len(ground)), np.zeros(29)
    rows: list[list[Floats]] = [[] for _ in range(5)]
    for acceleration, error in zip(ground, added, strict=True):
        reference = whole.step(acceleration, at_rest)[list(SEEN)]
        measured = plant.positions() + error
        joint = np.array(to_joint(measured))
        force, last = _force(model, follows @ joint, last, h)
        u = hybrid.step(acceleration, force)
        axes = to_actuators(u[FLOOR], -u[NEAR])
        commands = np.zeros(2)
        for i in range(2):
            sent, both[i] = both[i].after(1e3 * axes[i], 1e3 * measured[i])
            commands[i] = 1e-3 * sent
        plant.step(commands)
        found = (u[list(SEEN)], reference, axes, measured, joint)
        for kept, value in zip(rows, found, strict=True):
            kept.append(value.copy())
    return Run(*(np.array(one) for one in rows))


def _force(
    model: tuple[Floats, Floats, Floats], u: Floats, last: tuple[Floats, Floats], h: float
) -> tuple[Floats, tuple[Floats, Floats]]:
    """Return what pulls back on the structure, and displacement and velocity for the next one."""
    k, c, m = model
    v = (u - last[0]) / h
    f = k @ u + c @ v + m @ ((v - last[1]) / h)
    force = np.zeros(29)
    force[[FLOOR, NEAR, FAR]] = f[0], -f[1], -f[2]
    return force, (u, v)
