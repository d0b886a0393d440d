"""Reference results of examples with impacts and friction, from one event to the next."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

Array = NDArray[np.float64]


Columns = dict[str, Array]


RTOL = 1e-10


def motor_stick(times: Array) -> Columns:
    """Sliding is integrated from one standstill to the next; sticking ends at a root."""
    R, KT, J, coulomb, viscous, ratio = 2.05, 0.061, 6.38e-5, 0.0205, 2.58e-5, 1570.0

    def torque(t: float) -> float:
        return float(KT / R * 3 * np.exp(-t / 0.5) * np.sin(4 * np.pi * t))

    w, angle = np.zeros(len(times)), np.zeros(len(times))
    now, turned, last = 0.0, 0.0, times[-1]
    grid = np.linspace(0, last, 15001)
    while now < last:
        beyond = [t for t in grid[grid > now] if abs(torque(t)) > coulomb]
        if not beyond:
            angle[times > now] = turned
            break
        previous = max(now, beyond[0] - grid[1])
        sign = np.sign(torque(beyond[0]))
        begin = previous
        if sign * torque(previous) < coulomb:
            begin = brentq(
                lambda t, s=sign: s * torque(t) - coulomb, previous, beyond[0], xtol=1e-15
            )
        angle[(times > now) & (times <= begin)] = turned

        def right(t: float, x: Array, sign: float = float(sign)) -> Array:
            slip = sign * coulomb + (viscous + KT**2 / R) * x[0]
            return np.array([(torque(t) - slip) / J, x[0]])

        def stops(t: float, x: Array, sign: float = float(sign), begin: float = begin) -> float:
            return sign * x[0] if t > begin else 1.0

        stops.terminal, stops.direction = True, -1.0  # type: ignore[attr-defined]
        slide = solve_ivp(
            right, (begin, last), [0.0, turned], "DOP853", events=stops, dense_output=True,
            rtol=RTOL, atol=1e-12, first_step=1e-6,
        )  # fmt: skip
        now = slide.t[-1]
        inside = (times > begin) & (times <= now)
        if inside.any():
            w[inside], angle[inside] = slide.sol(times[inside])
        turned = slide.y[1, -1]
    return {"motor.w": w, "motor.angle": angle / ratio}


def ball_drop(times: Array) -> Columns:
    """Parabolas between impacts; at rest from the impact that would be left too slowly."""
    e, g, rest = 0.7, 9.81, 1e-3
    height, velocity = np.zeros(len(times)), np.zeros(len(times))
    begin, h, v = 0.0, 1.0, 0.0
    while begin < times[-1]:
        lasts = (v + np.sqrt(v**2 + 2 * g * h)) / g
        inside = (times >= begin) & (times < begin + lasts)
        t = times[inside] - begin
        height[inside], velocity[inside] = h + v * t - 0.5 * g * t**2, v - g * t
        begin, h, v = begin + lasts, 0.0, e * (g * lasts - v)
        if v < rest:
            break
    return {"ball.height": height, "ball.velocity": velocity}


def ball_on_spring(times: Array) -> Columns:
    """Parabolas and damped oscillations, each in closed form; their ends are roots."""
    m, k, d, g = 0.5, 2e4, 8.0, 9.81
    decay = d / (2 * m)
    omega = np.sqrt(k / m - decay**2)
    deep = -m * g / k
    height, velocity = np.zeros(len(times)), np.zeros(len(times))
    begin, h, v = 0.0, 0.5, 0.0
    while begin < times[-1]:
        flying = h > 0 or v > 0

        def motion(
            t: Array, h: float = h, v: float = v, flying: bool = flying
        ) -> tuple[Array, Array]:
            if flying:
                return h + v * t - 0.5 * g * t**2, v - g * t
            a, b = h - deep, (v + decay * (h - deep)) / omega
            c, s, fade = np.cos(omega * t), np.sin(omega * t), np.exp(-decay * t)
            position = fade * (a * c + b * s)
            rate = fade * (omega * (b * c - a * s)) - decay * position
            return deep + position, rate

        if flying:
            lasts = (v + np.sqrt(v**2 + 2 * g * h)) / g
        else:
            lasts = brentq(lambda t: motion(t)[0], 1e-3, 1.5 * np.pi / omega, xtol=1e-16)
        inside = (times >= begin) & (times < begin + lasts)
        height[inside], velocity[inside] = motion(times[inside] - begin)
        begin, h, v = begin + lasts, 0.0, float(motion(np.array(lasts))[1])
    return {"ball.height": height, "ball.velocity": velocity}
