"""Open loop: what comes back along one line that was cut, at every frequency, and the margins.

The line is cut at its target: a signal v goes into the input, and r is what the line brings then.
With r = -L v the loop is closed where v = r, so L = -1 is the limit of stability.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from orchestrator.core.diagnostics import DescriptionError, UnknownNameError, choices_for, counted
from orchestrator.core.files.plain_data import finite
from orchestrator.core.structs import Struct
from orchestrator.core.system import Connection, System, connection_name
from orchestrator.loops.delayed_loop import Complex, DelayedLoop, side_by_side
from orchestrator.loops.loop_account import (
    coupled_groups,
    exact_roots,
    gains,
    inner_lines,
    signal_names,
    spaces_of,
)
from orchestrator.loops.state_space import Floats, UnitModel

_TURN = 2.0 * math.pi
_GRID = 2000  # frequencies between which crossings are looked for
_SETTLED = 0.1  # share by which L may differ at half a slow frequency
_DECADES = 2.0  # of the grid, beyond the slowest and the fastest root


class Margin(Struct):
    """How far one quantity may change until the loop is at its limit.

    Parameters
    ----------
    value
        A factor (gain), rad (phase) or seconds (delay); infinite where nothing is crossed.
    frequency
        Of the oscillation at the limit, Hz; NaN where there is none.
    """

    value: float
    frequency: float


class Margins(Struct):
    """Margins of a loop that was cut: how far it is from its limit, stable or not.

    Parameters
    ----------
    is_stable
        Whether the closed loop is, in continuous time.
    gain, gain_reduction
        Smallest factor above 1, and largest below 1, that bring it to its limit.
    phase
        Lag, rad, that does; below zero in a loop that needs lead.
    delay
        Additional delay, seconds, that does; below zero where so much must be taken away.
    distance
        Smallest distance of L from -1, the inverse of the largest sensitivity; no unit.
    is_sampled
        Whether they are those of the loop as a schedule makes it, and not in continuous time.
    """

    is_stable: bool
    gain: Margin
    gain_reduction: Margin
    phase: Margin
    delay: Margin
    distance: Margin
    is_sampled: bool = False

    def __repr__(self) -> str:
        state = "stable" if self.is_stable else "unstable"
        kind = "as sampled" if self.is_sampled else "in continuous time"
        rows = (
            ("gain margin", self.gain, 1.0, ""),
            ("gain reduction", self.gain_reduction, 1.0, ""),
            ("phase margin", self.phase, 180.0 / math.pi, " deg"),
            ("delay margin", self.delay, 1e3, " ms"),
            ("distance to -1", self.distance, 1.0, ""),
        )
        lines = [f"Margins {kind}, closed loop {state}"]
        for name, margin, factor, unit in rows:
            text = f"  {name:<14}  {factor * margin.value:.6g}{unit}"
            at = f" at {margin.frequency:.6g} Hz" if math.isfinite(margin.frequency) else ""
            lines.append(text + at)
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """Return plain data: degrees, milliseconds, Hz; ``None`` where nothing is crossed."""
        return {
            "stable": self.is_stable,
            "gain_margin": finite(self.gain.value),
            "gain_margin_hz": finite(self.gain.frequency),
            "gain_reduction": finite(self.gain_reduction.value),
            "gain_reduction_hz": finite(self.gain_reduction.frequency),
            "phase_margin_deg": finite(math.degrees(self.phase.value)),
            "phase_margin_hz": finite(self.phase.frequency),
            "delay_margin_ms": finite(self.delay.value * 1e3),
            "delay_margin_hz": finite(self.delay.frequency),
            "distance_to_minus_one": self.distance.value,
            "distance_hz": self.distance.frequency,
        }


class OpenLoop(Struct):
    """A loop that is cut at one scalar of one line.

    Parameters
    ----------
    line
        Name of the line, ``component.output -> component.input``.
    is_stable
        Whether the loop is stable when it is closed.
    loop
        The rest of the loop: its first input is where it is cut, its first output where the line
        begins.
    factor, delay
        What the line makes of it; the delay in seconds.
    """

    line: str
    is_stable: bool
    loop: DelayedLoop
    factor: float
    delay: float

    def __repr__(self) -> str:
        state = "stable" if self.is_stable else "unstable"
        size = counted(self.loop.a.shape[0], "state")
        return f"OpenLoop cut at '{self.line}': {size}, closed loop {state}"

    def response(self, frequency: Floats) -> Complex:
        """Return L at frequencies in Hz, complex128 of the same shape."""
        return self.at(_TURN * np.asarray(frequency, dtype=np.float64))

    def at(self, omega: Floats | float) -> Complex:
        """Return L at angular frequencies in rad/s."""
        s = 1j * np.asarray(omega)
        n = self.loop.a.shape[0]
        right = np.zeros((n + self.loop.b.shape[1], 1))
        right[n] = 1.0
        response = np.linalg.solve(self.loop.matrix(s), right)[..., 0]
        outputs = np.concatenate([self.loop.c[0], self.loop.d[0]])
        return np.asarray(-self.factor * np.exp(-s * self.delay) * (response @ outputs))

    def frequencies(self) -> Floats:
        """Return frequencies in Hz that show the loop, float64, logarithmic."""
        size = np.abs(np.linalg.eigvals(self.loop.discretised()))
        lags = [*self.loop.gains, self.delay]
        size = np.concatenate([size[size > 1e-6], [1.0 / lag for lag in lags if lag > 0.0], [1.0]])
        low, high = math.log10(size.min()) - _DECADES, math.log10(size.max()) + _DECADES
        return np.asarray(np.logspace(low, min(high, low + 12.0), _GRID) / _TURN)

    def margins(self) -> Margins:
        """Return the margins, from all crossings of |L| = 1 and of the negative real axis."""
        omega = _TURN * self.frequencies()
        ends = at_rest(self.at, float(omega[0]))
        return margins_of(self.at, omega, is_stable=self.is_stable, ends=ends)


def margins_of(
    response: Callable[[Floats | float], Complex],
    omega: Floats,
    *,
    is_stable: bool,
    ends: Sequence[tuple[float, float]] = (),
) -> Margins:
    """Return the margins of a loop by its response L.

    response: L at angular frequencies in rad/s.
    omega: Frequencies between which crossings are looked for, rad/s, increasing.
    is_stable: Whether the loop is stable when it is closed.
    ends: L and frequency, rad/s, where it is real at the ends of what can be: no crossing shows it.
    """
    values = response(omega)
    unity = _crossings(omega, level(values), lambda w: float(level(response(w))))
    lags = [(float(np.angle(-response(w))) % _TURN, w) for w in unity]
    if not is_stable:
        lags = [(lag - _TURN, w) for lag, w in lags]
    turns = _crossings(omega, values.imag, lambda w: float(response(w).imag))
    real = [*((float(response(w).real), w) for w in turns), *ends]
    factors = [(-1.0 / value, w) for value, w in real if value < 0.0]
    return Margins(
        is_stable,
        _nearest([pair for pair in factors if pair[0] > 1.0], math.inf),
        _nearest([pair for pair in factors if pair[0] < 1.0], 0.0),
        _nearest(lags, math.inf),
        _nearest([(lag / w, w) for lag, w in lags], math.inf),
        _nearest_to_limit(response, omega, np.abs(1.0 + values)),
    )


def at_rest(
    response: Callable[[Floats | float], Complex], slow: float
) -> list[tuple[float, float]]:
    """Return L at rest and 0 rad/s, from two frequencies below all modes; empty: it has no end.

    The real part of L goes with the square of the frequency, which both together take off.
    """
    near, nearer = (complex(response(w)) for w in (slow, 0.5 * slow))
    if abs(near - nearer) > _SETTLED * abs(nearer):
        return []  # an integrator doubles it
    return [((4.0 * nearer.real - near.real) / 3.0, 0.0)]


def _nearest_to_limit(
    response: Callable[[Floats | float], Complex], omega: Floats, distances: Floats
) -> Margin:
    from scipy.optimize import minimize_scalar

    nearest = int(np.argmin(distances))
    first, last = omega[max(nearest - 1, 0)], omega[min(nearest + 1, omega.size - 1)]
    minimum = minimize_scalar(
        lambda w: float(np.abs(1.0 + response(w))),
        bounds=(float(first), float(last)),
        method="bounded",
        options={"xatol": 1e-9 * float(last)},
    )
    return Margin(float(minimum.fun), float(minimum.x) / _TURN)


def open_loop(
    system: System, models: Mapping[str, UnitModel], line: str, element: int = 1
) -> OpenLoop:
    """Cut a loop.

    Parameters
    ----------
    system, models
        Linearised; of its components, by name.
    line
        ``component.output -> component.input``, or the input alone.
    element
        Of a line that carries an array, which, from 1 on.

    Raises
    ------
    DescriptionError
        If there is no such line, or it is in no loop.
    CapabilityError
        If a component of the loop has no model in continuous time.
    """
    cut = find_line(system, line)
    ends = {cut.source.component, cut.target.component}
    group = next((g for g in coupled_groups(system) if ends <= set(g)), None)
    if group is None:
        raise DescriptionError(
            f"the line {cut} is in no loop: nothing comes back to where it begins"
        )
    source = system.components[cut.source.component].connectors[cut.source.connector]
    target = system.components[cut.target.component].connectors[cut.target.connector]
    if not 1 <= element <= target.size:
        raise DescriptionError(f"element of {cut}: expected 1 to {target.size}, found {element}")
    into = signal_names(cut.target.component, [target])[element - 1]
    out_of = signal_names(cut.source.component, [source])[element - 1]
    space = side_by_side(spaces_of(models, group))
    lines = inner_lines(system, group)
    cut_gains = gains(system, [cut], [into], [out_of])
    ((delay, factor),) = cut_gains.items()
    all_gains = gains(system, lines, space.inputs, space.outputs)
    row = space.inputs.index(into)
    other_gains = {lag: gain.copy() for lag, gain in all_gains.items()}
    for gain in other_gains.values():
        gain[row] = 0.0
    loop = DelayedLoop.closed(
        space, other_gains, into=(row,), out_of=(space.outputs.index(out_of),)
    )
    closed = DelayedLoop.closed(space, all_gains)
    is_stable = all(root.real < 0.0 for root in exact_roots(closed, 1))
    return OpenLoop(str(cut), is_stable, loop, float(factor[0, 0]), delay)


def find_line(system: System, line: str) -> Connection:
    """Return a line by its name, or by the name of its input."""
    name = connection_name(line) if "->" in line else line.strip()
    for connection in system.connections:
        if name in {str(connection), str(connection.target)}:
            return connection
    names = [str(connection) for connection in system.connections]
    raise UnknownNameError(
        f"system '{system.name}' has no connection '{line}'"
        f"{choices_for(line, names, 'connection', 'its')}"
    )


def level(values: Complex) -> Floats:
    """Logarithm of the size; of nothing, as of a contact that is open, that of the least number."""
    logarithm: Floats = np.log(np.maximum(np.abs(values), np.finfo(np.float64).tiny))
    return logarithm


def _crossings(omega: Floats, values: Floats, function: Callable[[float], float]) -> list[float]:
    """Return where a function that was sampled goes through zero."""
    from scipy.optimize import brentq

    signs = np.flatnonzero(values[:-1] * values[1:] < 0.0)
    return [float(brentq(function, omega[i], omega[i + 1], xtol=1e-14, rtol=1e-13)) for i in signs]


def _nearest(pairs: list[tuple[float, float]], none: float) -> Margin:
    """Return the change that is the smallest: of factors the nearest to 1, else to 0."""
    if not pairs:
        return Margin(none, math.nan)
    value, omega = max(pairs) if pairs[0][0] < 0.0 or none == 0.0 else min(pairs)
    return Margin(float(value), float(omega) / _TURN)
