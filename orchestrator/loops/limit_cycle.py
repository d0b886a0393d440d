"""Limit cycles of a loop with one component that is not linear, by its describing function.

A sine of amplitude A goes into the component, and the first harmonic of what comes out is N(A)
times it. With L of the rest of the loop, cut at the component's input, oscillations that sustain
themselves are where ``1 + N(A) L(i w) = 0``. One is stable if a larger amplitude dies down and a
smaller one grows: ``Re(f_A / f_s) > 0`` of ``f = 1 + N(A) L(s)``, which is Loeb's criterion.

References
----------
Gelb, Vander Velde: Multiple-input describing functions and nonlinear system design, McGraw-Hill
(1968), 3.3 and 3.4 (Loeb's criterion, in s instead of along the frequency axis).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Self

import numpy as np

from orchestrator.core.diagnostics import (
    CapabilityError,
    DescriptionError,
    UnknownNameError,
    choices_for,
    counted,
)
from orchestrator.core.master import Execution
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import Connection, DataType, System
from orchestrator.loops.delayed_loop import Complex
from orchestrator.loops.loop_account import signal_names
from orchestrator.loops.loop_transfer import OpenLoop, open_loop
from orchestrator.loops.operating_point import steps_of
from orchestrator.loops.run_account import LinearSystem
from orchestrator.loops.state_space import Floats, StateSpace, UnitModel

#: Steps of a period of the sine, and periods before the one that is looked at.
_SAMPLES, _BEFORE = 256, 1
#: Allowed change of a component's response at half the frequency, and of its mean.
_RATE, _MEAN = 1e-3, 1e-6
#: Relative steps of slopes over amplitude and frequency.
_SMALL = 1e-3


class LimitCycle(Struct):
    """An oscillation that sustains itself.

    amplitude: Of the component's input, in its unit.
    frequency: Hz.
    is_stable: Whether motions nearby come to it; else they leave it: a smaller one dies down.
    return_rate: How fast a share by which the amplitude is off becomes smaller, 1/s; below 0 it
        grows.
    third: What comes back of a third harmonic, as a share of what comes back of the first: what the
        describing function leaves out.
    """

    amplitude: float
    frequency: float
    is_stable: bool
    return_rate: float
    third: float

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "amplitude": self.amplitude,
            "frequency_hz": self.frequency,
            "stable": self.is_stable,
            "return_rate_1_s": self.return_rate,
            "third_harmonic": self.third,
        }


class DescribingFunction:
    """First harmonic of what a component makes of a sine, by asking the component itself.

    system: Of which it is a component.
    line: The line into it.
    output: Its output, ``component.connector``.
    """

    def __init__(self, system: System, line: Connection, output: str) -> None:
        self.name = line.target.component
        self._input, self._output = str(line.target), output
        alone = {self.name: system.components[self.name]}
        at_rest = replace(system, components=alone, connections=()).set(self._input, 0.0)
        self._run = Execution(at_rest, step="1 ms", delay="plain", record=())
        self._known: dict[float, complex] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._run.close()

    def __call__(self, amplitude: float) -> complex:
        """Return N at an amplitude of the input."""
        if amplitude not in self._known:
            self._known[amplitude] = self._gain_at(amplitude, _SAMPLES)
        return self._known[amplitude]

    def expect_static(self, amplitude: float) -> None:
        """Expect that it answers a slower sine alike, and as much to either side."""
        fast, slow = self(amplitude), self._gain_at(amplitude, 2 * _SAMPLES)
        if abs(fast - slow) > _RATE * max(abs(fast), abs(slow)):
            raise CapabilityError(
                f"component '{self.name}' answers a slower sine differently ({slow:.4g} instead of"
                f" {fast:.4g}): expected one without dynamics of its own, such as a dead zone"
            )

    def _gain_at(self, amplitude: float, samples: int) -> complex:
        turn = 2.0 * math.pi * np.arange(1, samples + 1) / samples
        sent = [amplitude * math.sin(angle) for angle in turn] * (_BEFORE + 1)
        answers = []
        for value in sent:
            self._run.set(self._input, value)
            self._run.step()
            answers.append(float(self._run.get(self._output)))  # type: ignore[arg-type]
        response = np.array(answers[-samples:])
        if abs(response.mean()) > _MEAN * max(float(np.abs(response).max()), np.finfo(float).tiny):
            raise CapabilityError(
                f"component '{self.name}' answers a sine with a mean of {response.mean():.4g}: a"
                " describing function needs a symmetric component, not a contact that only"
                " pushes"
            )
        return complex(2j * np.mean(response * np.exp(-1j * turn)) / amplitude)


def limit_cycles(
    linear: LinearSystem, component: str, amplitudes: Sequence[float]
) -> tuple[LimitCycle, ...]:
    """Return the limit cycles of the loop through a component, by falling amplitude.

    linear: The system; the component's own linear model is not used.
    component: With one scalar input that a line feeds, and one output that lines take, in one loop.
    amplitudes: Of its input, increasing, between which they are looked for.
    Raises DescriptionError: if there is no such component, it is in no loop, or the amplitudes do
        not increase above 0.
    Raises CapabilityError: if it has dynamics of its own, answers to one side only, or the rest has
        no model in continuous time.
    """
    if not all(low < high for low, high in zip([0.0, *amplitudes], amplitudes, strict=False)):
        raise DescriptionError(
            f"amplitudes of '{component}': expected at least two, increasing and above 0, found"
            f" {', '.join(f'{a:g}' for a in amplitudes) or 'none'}"
        )
    into, output = _ends(linear.system, component)
    models = {**linear.models, component: _unity(linear.system, into, output)}
    opened = open_loop(linear.system, models, str(into))
    cycles: list[LimitCycle] = []
    with DescribingFunction(linear.system, into, output) as function:
        function.expect_static(amplitudes[-1])
        for amplitude, omega in _candidates(function, opened, amplitudes):
            with suppress(ArithmeticError):
                cycle = _refined(function, opened, amplitude, omega)
                inside = amplitudes[0] <= cycle.amplitude <= amplitudes[-1]
                if inside and not any(_same(cycle, neighbour) for neighbour in cycles):
                    cycles.append(cycle)
    return tuple(sorted(cycles, key=lambda cycle: -cycle.amplitude))


def _ends(system: System, component: str) -> tuple[Connection, str]:
    """Return the line into a component, and the output that lines take of it."""
    if component not in system.components:
        raise UnknownNameError(
            f"system '{system.name}' has no component"
            f" '{component}'{choices_for(component, system.components, 'component', 'its')}"
        )
    into = [line for line in system.connections if line.target.component == component]
    outputs = {
        str(line.source) for line in system.connections if line.source.component == component
    }
    connectors = system.components[component].connectors
    ends = [line.target.connector for line in into] + [o.partition(".")[2] for o in outputs]
    fits = all(connectors[e].type is DataType.REAL and connectors[e].size == 1 for e in ends)
    if not (len(into) == len(outputs) == 1 and fits):
        raise DescriptionError(
            f"component '{component}': a describing function is of one input and one output, Real"
            f" and scalar, with connections; found {counted(len(into), 'connection')} into it and"
            f" {', '.join(sorted(outputs)) or 'no output'}"
        )
    return into[0], outputs.pop()


def _unity(system: System, into: Connection, output: str) -> UnitModel:
    """Return a component that passes its input on, in the place of the one that is not linear."""
    name, part = into.target.component, system.components[into.target.component]
    ins = signal_names(name, [c for c in part.connectors.values() if c.causality == "input"])
    outs = signal_names(name, [c for c in part.connectors.values() if c.causality == "output"])
    d = np.zeros((len(outs), len(ins)))
    d[outs.index(output), ins.index(str(into.target))] = 1.0
    none = np.zeros((0, 0))
    space = StateSpace(none, np.zeros((0, len(ins))), np.zeros((len(outs), 0)), d, (), ins, outs)
    return UnitModel(name, "describing function", (), steps_of(space), space)


def _candidates(
    function: DescribingFunction, opened: OpenLoop, amplitudes: Sequence[float]
) -> Iterator[tuple[float, float]]:
    """Give where the lines between values of N and those between values of -1/L cross."""
    omega = 2.0 * math.pi * opened.frequencies()
    with np.errstate(divide="ignore", invalid="ignore"):
        target = -1.0 / opened.at(omega)
    n = np.array([function(a) for a in amplitudes])
    p, r = n[:-1, None], np.diff(n)[:, None]
    q, s = target[None, :-1], np.diff(target)[None]
    with np.errstate(divide="ignore", invalid="ignore"):
        across = _cross(r, s)
        along_n, along_w = _cross(q - p, s) / across, _cross(q - p, r) / across
    edge = 1e-6  # of a line of N that ends on -1/L
    hit = (along_n >= -edge) & (along_n <= 1.0 + edge) & (along_w >= 0.0) & (along_w <= 1.0)
    for i, j in np.argwhere(hit):
        share = float(np.clip(along_n[i, j], 0.0, 1.0))
        yield (
            amplitudes[i] + share * (amplitudes[i + 1] - amplitudes[i]),
            float(omega[j] * (omega[j + 1] / omega[j]) ** along_w[i, j]),
        )


def _cross(a: Complex, b: Complex) -> Floats:
    return a.real * b.imag - a.imag * b.real


def _refined(
    function: DescribingFunction, opened: OpenLoop, amplitude: float, omega: float
) -> LimitCycle:
    """Solve ``1 + N(A) L(i w) = 0`` by Newton's method, and tell the cycle.

    Raises ArithmeticError: if it does not converge.
    """
    for _ in range(30):
        residual = 1.0 + function(amplitude) * complex(opened.at(omega))
        by_a, by_w = _slopes(function, opened, amplitude, omega)
        jacobian = [[by_a.real, by_w.real], [by_a.imag, by_w.imag]]
        try:
            change = np.linalg.solve(jacobian, [-residual.real, -residual.imag])
        except np.linalg.LinAlgError:
            raise ArithmeticError from None
        change = np.clip(change, -0.3, 0.3)
        amplitude, omega = (
            x * math.exp(c) for x, c in zip((amplitude, omega), change, strict=True)
        )
        if np.abs(change).max() < 1e-9:
            break
    else:
        raise ArithmeticError
    by_a, by_w = _slopes(function, opened, amplitude, omega)
    rate = float((by_a / (by_w / (1j * omega))).real)  # f_A A / f_s, with d/ds = -i d/dw
    first, three = (abs(complex(opened.at(k * omega))) for k in (1.0, 3.0))
    frequency = float(omega / (2.0 * math.pi))
    return LimitCycle(float(amplitude), frequency, rate > 0.0, rate, three / first)


def _slopes(
    function: DescribingFunction, opened: OpenLoop, amplitude: float, omega: float
) -> tuple[complex, complex]:
    """Return the derivatives of ``1 + N L`` by the logarithms of amplitude and frequency."""
    up, down = math.exp(_SMALL), math.exp(-_SMALL)
    n, at = function(amplitude), complex(opened.at(omega))
    by_a = (function(amplitude * up) - function(amplitude * down)) / (2.0 * _SMALL)
    by_w = (complex(opened.at(omega * up)) - complex(opened.at(omega * down))) / (2.0 * _SMALL)
    return by_a * at, n * by_w


def _same(a: LimitCycle, b: LimitCycle) -> bool:
    near = 1e-4
    return math.isclose(a.amplitude, b.amplitude, rel_tol=near) and math.isclose(
        a.frequency, b.frequency, rel_tol=near
    )
