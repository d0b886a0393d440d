"""Sampled contact loop: simulated bodies that meet hardware, and the modes that gain energy.

The bodies take a force that is held for a step. Robot, contact and sensor are hardware and know no
steps; lead and compensation work on samples. All of it is linear, so one matrix takes everything
from a sample to the next, and its largest eigenvalue says without any run whether the rig diverges
and how fast.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.structs import Struct
from orchestrator.loops.contact.body_chain import BodyChain
from orchestrator.loops.contact.quasi_polynomial import QuasiPolynomial


def hold_step(matrix: Floats, column: Floats, step: float) -> tuple[Floats, Floats]:
    """Discretise ``x' = matrix x + column u`` for an input that is held.

    matrix, column: Shapes (n, n) and (n,), 1/s.
    step: Length of the step, s.
    Returns: Shapes (n, n) and (n,): for the state and for the input.
    """
    state, begin, end = ramp_step(matrix, column, step)
    return state, begin + end


def ramp_step(matrix: Floats, column: Floats, step: float) -> tuple[Floats, Floats, Floats]:
    """Discretise ``x' = matrix x + column u`` for an input that goes straight."""
    from scipy.linalg import expm

    order = len(column)
    block = np.zeros((order + 2, order + 2))
    block[:order, :order], block[:order, order] = matrix * step, column * step
    block[order, order + 1] = 1.0  # the input's slope, per step
    grown = expm(block)
    slope = grown[:order, order + 1]
    return grown[:order, :order], grown[:order, order] - slope, slope


class SampleRows:
    """Signals as linear functions of the states at the last sample and of inputs at this one.

    Every signal is a vector with an entry for each state and input, so that signals are added and
    scaled as such.

    sizes: Number of states by name, and of inputs, in their order.
    inputs: Names among them that are inputs.
    """

    def __init__(self, sizes: Mapping[str, int], inputs: tuple[str, ...] = ()) -> None:
        ends = np.cumsum(list(sizes.values())).tolist()
        self._places = {
            name: slice(end - size, end)
            for (name, size), end in zip(sizes.items(), ends, strict=True)
        }
        self._identity = np.eye(ends[-1])
        self._next = np.zeros((ends[-1], ends[-1]))
        self._inputs = inputs

    def __getitem__(self, name: str) -> Floats:
        """Give the states of that name at the last sample, or the inputs at this one."""
        return self._identity[self._places[name]]

    def __setitem__(self, name: str, rows: ArrayLike) -> None:
        """Say what the states of that name are at this sample."""
        self._next[self._places[name]] = rows

    def delayed(self, name: str, newest: Floats, steps: float) -> Floats:
        """Give a signal late, from the states ``name`` that hold its past."""
        past = np.vstack([newest, self[name]])
        self[name] = past[:-1]
        whole_steps = int(steps)
        share = steps - whole_steps
        if share == 0.0:
            return np.asarray(past[whole_steps])
        return np.asarray((1.0 - share) * past[whole_steps] + share * past[whole_steps + 1])

    @property
    def matrices(self) -> tuple[Floats, Floats]:
        """Matrices for the states, shape (n, n), and for the inputs, shape (n, m)."""
        driven = np.zeros(len(self._identity), dtype=bool)
        for name in self._inputs:
            driven[self._places[name]] = True
        return self._next[np.ix_(~driven, ~driven)], self._next[np.ix_(~driven, driven)]


Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]
_DELAYS = ("command_delay", "force_delay", "position_delay", "output_delay")


class ForceCorrection(Struct):
    """What is added to the measured force for the robot's error of position.

    Parameters
    ----------
    stiffness, damping
        That the contact is believed to have, N/m and N s/m; may have any sign.
    half_sample
        Whether the hold of the force is taken into account: the position is taken half a step on.
    differenced
        Whether the robot's velocity is the difference of its last two positions, not measured.
    """

    stiffness: float
    damping: float
    half_sample: bool = True
    differenced: bool = False


class SampledContactLoop(Struct, dict=True):
    """The loop of bodies, robot, contact, sensor, lead and compensation at one sampling time.

    Parameters
    ----------
    chain
        The bodies.
    stiffness, damping
        Of the contact, N/m and N s/m.
    step
        Sampling time, s. The robot moves in a step towards the position at its end (as under
        Gauss-Seidel), and the bodies take in it the force of its beginning.
    bandwidth, zeta
        Of the robot, second order: undamped natural frequency, Hz, and damping ratio.
    sensor_lag
        Time constant of the sensor, s. Between samples its force goes straight.
    lead_rest
        Share of the sensor's lag that a phase lead leaves; 1 is no lead.
    correction
        The compensation; ``None``: the measured force is used as it is.
    command_delay, force_delay, position_delay, output_delay
        Further delays, s: of the command to the robot, of the measured force, of the robot's
        measured motion that the compensation compares, and of the force on its way to the bodies.
        Between samples they are straight lines.

    Raises
    ------
    DescriptionError
        A value is out of its range.
    """

    chain: BodyChain
    stiffness: float
    damping: float
    step: float
    bandwidth: float = 15.0
    zeta: float = 0.7
    sensor_lag: float = 2e-3
    lead_rest: float = 1.0
    correction: ForceCorrection | None = None
    command_delay: float = 0.0
    force_delay: float = 0.0
    position_delay: float = 0.0
    output_delay: float = 0.0

    def __post_init__(self) -> None:
        positive = ("step", "bandwidth", "zeta", "stiffness", "lead_rest")
        others = ("damping", "sensor_lag", *_DELAYS)
        problems = [
            f"sampled contact loop: {name}: expected a finite value"
            f" {'> 0' if name in positive else '>= 0'}, found {value}"
            for name in (*positive, *others)
            if not math.isfinite(value := getattr(self, name))
            or value < 0.0
            or (name in positive and value == 0.0)
        ]
        if problems:
            raise DescriptionError(*problems)

    @cached_property
    def roots(self) -> Complexes:
        """What each eigenvalue z of a step means in continuous time, ``ln z / step``, 1/s.

        The rightmost comes first. Frequencies are below that of Nyquist; a memory that is empty
        after some steps has no root.
        """
        factors = np.linalg.eigvals(self.matrix).astype(complex)
        # What a memory forgets is a zero that rounding spreads: z^n = 1e-16.
        factors = factors[np.abs(factors) > 1e-300]
        roots = np.log(factors) / self.step
        return np.asarray(roots[np.lexsort((-roots.imag, -roots.real))])

    @property
    def growth_rate(self) -> float:
        """Real part of the rightmost root, 1/s; positive: the rig diverges."""
        return float(self.roots[0].real)

    @property
    def frequency(self) -> float:
        """Frequency of what grows fastest, or dies last, Hz."""
        return float(abs(self.roots[0].imag)) / (2.0 * math.pi)

    @property
    def is_stable(self) -> bool:
        """Whether everything dies out."""
        return self.growth_rate < 0.0

    @cached_property
    def matrix(self) -> Floats:
        """The matrix of one step.

        States are the distances of the chain and their rates, then robot, sensor and memories.
        """
        state, push = hold_step(self.chain.matrix, self.chain.push, self.step)
        number = self.chain.joints
        inner, drive = self._hardware
        free = np.zeros((2 * number, len(inner)))
        free[:, 0] = push
        bodies = np.hstack([state, free])
        met = bodies[[number - 1, 2 * number - 1]]  # the gap and its rate at this sample
        shift_rows = np.hstack([np.zeros((len(inner), 2 * number)), inner])
        return np.vstack([bodies, shift_rows + drive @ met])

    def dynamic_stiffness(self, omega: float) -> complex:
        """Give the force on the bodies for a steady motion of the contact, N/m.

        Parameters
        ----------
        omega
            Angular frequency of the motion, rad/s.

        Returns
        -------
        complex
            Its real part is the stiffness that the bodies feel, its imaginary part divided by
            ``omega`` their damping: negative damping drives a vibration.
        """
        inner, drive = self._hardware
        turn = np.exp(1j * omega * self.step)
        driven = drive @ np.array([1.0, 1j * omega]) * turn
        held = np.linalg.solve(turn * np.eye(len(inner)) - inner, driven)[0]
        half = 0.5 * omega * self.step  # the mean of a held sine
        return complex(held * np.exp(-1j * half) * np.sinc(half / math.pi))

    @cached_property
    def _hardware(self) -> tuple[Floats, Floats]:
        """Matrices from the contact's motion to the force on the bodies, which is state 0."""
        h = self.step
        steps = {
            "command": self.command_delay / h,
            "shown": self.force_delay / h,
            "actual": self.position_delay / h,
            "sent": self.output_delay / h,
        }
        sizes = {"force": 1, "robot": 2, "contact": 1, "sensor": 1, "lead": 1, "measured": 1}
        sizes |= {name: math.ceil(count) for name, count in steps.items()}
        sizes |= {"rate": sizes["actual"], "before": 1, "gap": 2}
        rows = SampleRows(sizes, ("gap",))
        position, speed = rows["gap"]
        robot = self._robot(rows, rows.delayed("command", position, steps["command"]))
        contact = self.stiffness * robot[0] + self.damping * robot[1]
        sensor = self._sensor(rows, contact)
        force = self._lead(rows, rows.delayed("shown", sensor, steps["shown"]))
        actual = rows.delayed("actual", robot[0], steps["actual"])
        rate = rows.delayed("rate", robot[1], steps["actual"])
        if (correction := self.correction) is not None:
            if correction.differenced:
                rate = (actual - rows["before"][0]) / h
            ahead = 0.5 * h if correction.half_sample else 0.0
            force = force + correction.stiffness * (position + ahead * speed - actual)
            force = force + correction.damping * (speed - rate)
        rows["robot"], rows["contact"], rows["sensor"] = robot, contact, sensor
        rows["before"], rows["force"] = actual, rows.delayed("sent", force, steps["sent"])
        return rows.matrices

    def _robot(self, rows: SampleRows, command: Floats) -> Floats:
        """Position and velocity at this sample; the command was held."""
        w = 2.0 * math.pi * self.bandwidth
        axis = np.array([[0.0, 1.0], [-w * w, -2.0 * self.zeta * w]])
        state, push = hold_step(axis, np.array([0.0, w * w]), self.step)
        return np.asarray(state @ rows["robot"] + np.outer(push, command))

    def _sensor(self, rows: SampleRows, contact: Floats) -> Floats:
        """What the sensor shows at this sample."""
        if self.sensor_lag == 0.0:
            return contact
        state, begin, end = _lag(self.sensor_lag, self.step)
        before = rows["contact"][0]
        return np.asarray(state * rows["sensor"][0] + begin * before + end * contact)

    def _lead(self, rows: SampleRows, measured: Floats) -> Floats:
        """Force behind ``(lag s + 1)/(rest s + 1)``; between samples it goes straight."""
        rows["measured"] = measured
        if self.lead_rest == 1.0 or self.sensor_lag == 0.0:
            return measured
        state, begin, end = _lag(self.lead_rest * self.sensor_lag, self.step)
        lagged = state * rows["lead"][0] + begin * rows["measured"][0] + end * measured
        rows["lead"] = lagged
        gain = 1.0 / self.lead_rest
        return np.asarray(gain * measured - (gain - 1.0) * lagged)

    @property
    def continuous(self) -> QuasiPolynomial:
        """The characteristic function of the same loop without samples, ``step`` to 0.

        Raises
        ------
        DescriptionError
            With a correction, ``force_delay`` and ``position_delay`` differ or there is an
            ``output_delay``: the loop has more than one delay then.
        """
        correction = self.correction
        if correction is not None and (
            self.force_delay != self.position_delay or self.output_delay
        ):
            raise DescriptionError(
                "sampled contact loop: without samples there is one delay: expected equal"
                f" force_delay and position_delay, and no output_delay, found"
                f" {self.force_delay:g}, {self.position_delay:g} and {self.output_delay:g} s"
            )
        w = 2.0 * math.pi * self.bandwidth
        moving, compliance = _chain_polynomials(self.chain, self.stiffness)
        contact = np.array([self.damping, self.stiffness])
        robot = np.array([1.0, 2.0 * self.zeta * w, w * w])
        sensor = np.array([self.lead_rest * self.sensor_lag, 1.0])
        p = np.polymul(np.polymul(moving, robot), sensor)
        q = contact * w * w
        if correction is not None:
            believed = np.array([correction.damping, correction.stiffness])
            by_hand = np.polymul(np.polymul(compliance, believed), np.polymul(robot, sensor))
            p = np.asarray(np.polyadd(p, by_hand), dtype=float)
            q = np.asarray(np.polysub(q, w * w * np.polymul(believed, sensor)), dtype=float)
        delay = self.command_delay + self.force_delay + self.output_delay
        return QuasiPolynomial(p, np.polymul(compliance, q), delay)


def _lag(time: float, step: float) -> tuple[float, float, float]:
    """Give ``(state, begin, end)`` of a first-order lag whose input goes straight."""
    state, begin, end = ramp_step(np.array([[-1.0 / time]]), np.array([1.0 / time]), step)
    return float(state[0, 0]), float(begin[0]), float(end[0])


def _chain_polynomials(chain: BodyChain, scale: float) -> tuple[Floats, Floats]:
    """Give ``(d, n)``: the gap closes by ``n/d`` for 1 N that the contact pulls with.

    ``scale`` is a stiffness, N/m, at which ``n`` is as large as ``d``, for the sake of rounding.
    """
    matrix = chain.matrix
    spring = np.zeros_like(matrix)
    spring[:, chain.joints - 1] = scale * chain.push
    d: Floats = np.asarray(np.poly(matrix), dtype=float)
    n: Floats = (np.asarray(np.poly(matrix + spring), dtype=float) - d) / scale
    return d, n[2:]  # the force acts on the second derivative


_PASSES = 8  # the frequency depends on the stiffness that is felt there, which hardly changes


class LoopMode(Struct):
    """One vibration of the chain with the contact as it feels through robot, sensor and samples.

    Parameters
    ----------
    omega
        Angular frequency, rad/s, without dampers.
    stiffness, damping
        What the bodies feel of the contact at that frequency, N/m and N s/m.
    needed
        Damping of the contact that the mode needs, N s/m: negative as far as the dampers between
        the bodies do it.
    growth
        First estimate of its growth rate, 1/s: all dampers counted as small.
    """

    omega: float
    stiffness: float
    damping: float
    needed: float
    growth: float

    @property
    def margin(self) -> float:
        """Damping of the contact that is left, N s/m; negative: the vibration grows."""
        return self.damping - self.needed


def loop_modes(loop: SampledContactLoop) -> tuple[LoopMode, ...]:
    """Give the modes of a loop by rising frequency, with the reasons why they grow or not.

    To first order a vibration loses ``(c + d) / (2 m)`` of its amplitude in a second, with the
    damping ``c`` of the contact as it is felt at its frequency.
    """
    modes = []
    for number in range(loop.chain.joints):
        stiffness = loop.stiffness
        for _ in range(_PASSES):
            frequencies, contact, links = loop.chain.modes(stiffness)
            omega = float(frequencies[number])
            felt = loop.dynamic_stiffness(omega)
            stiffness = felt.real
        damping = felt.imag / omega
        needed = -float(links[number] / contact[number])
        growth = -float(contact[number]) * (damping - needed)
        modes.append(LoopMode(omega, stiffness, damping, needed, growth))
    return tuple(modes)
