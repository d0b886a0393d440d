"""A whole system as one state-space model, as SciPy and python-control take it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

import numpy as np

from orchestrator.core.diagnostics import DescriptionError, UnknownNameError, choices_for
from orchestrator.core.simunits import Block, Output, Parameter, State, block, resolve
from orchestrator.core.structs import Struct, field, replace
from orchestrator.core.system import Causality, DataType, System
from orchestrator.loops.contact import pade_coefficients
from orchestrator.loops.delayed_loop import Complex, DelayedLoop, side_by_side
from orchestrator.loops.loop_account import gains, numeric_lines, signal_names, spaces_of
from orchestrator.loops.run_account import LinearSystem, linear_system
from orchestrator.loops.state_space import Floats, StateSpace


class HeldNumber(Block):
    """A number that stays what it is."""

    begin: float = Parameter(start=0.0)
    y: float = Output(depends_on=())
    value: float = State(start=0.0)

    def initialise(self, t: float) -> None:
        """Begin with the parameter."""
        self.value = self.y = self.begin

    def step(self, t: float, h: float) -> None:
        """Give it out."""
        self.y = self.value


def free_inputs(system: System) -> list[str]:
    """Name the Real scalar inputs that nothing is connected to."""
    fed = {str(line.target) for line in system.connections}
    return [
        f"{name}.{connector.name}"
        for name, component in system.components.items()
        for connector in component.connectors.values()
        if connector.causality is Causality.INPUT
        and connector.type is DataType.REAL
        and not connector.shape
        and f"{name}.{connector.name}" not in fed
    ]


def source_of(name: str) -> str:
    """Name the source at an input."""
    return f"into {name.replace('.', ' ')}"


def with_sources(system: System, inputs: Iterable[str]) -> System:
    """Connect a source to inputs that nothing is connected to; it holds what they are held at."""
    for name in inputs:
        owner, _, connector = name.partition(".")
        component = system.components[owner]
        begin = float(np.ravel(component.values.get(connector, 0.0))[0])
        values = {key: value for key, value in component.values.items() if key != connector}
        components = {**system.components, owner: replace(component, values=values)}
        system = replace(system, components=components)
        system = system.add(source_of(name), block(HeldNumber), begin=begin)
        system = system.connect(f"{source_of(name)}.y", name)
    return system


class Delays(StrEnum):
    """What becomes of declared delays in a model."""

    EXACT = "exact"
    PADE = "pade"
    SAMPLED = "sampled"


class SystemModel(Struct):
    """A linear system x' = A x + B u, y = C x + D u, or x[k+1] = A x[k] + B u[k] of steps.

    Parameters
    ----------
    a, b, c, d
        float64 of shapes (n, n), (n, m), (p, n) and (p, m): ``scipy.signal.StateSpace(a, b, c, d)``
        and ``control.ss(a, b, c, d)`` take them as they are, with ``period`` behind them if it is
        sampled.
    states, inputs, outputs
        Names. Where there are ``delays``, inputs and outputs of the delayed lines stand behind
        the requested ones.
    period
        Length of a step in seconds; 0 in continuous time.
    delays
        What inputs are of outputs of before, float64 of shape (m, p), by delay in seconds: the
        inputs are u(t) = w(t) + sum over k of G_k y(t - tau_k), with w from outside. Empty unless
        delays are exact.
    requested
        How many of the inputs and of the outputs were requested: they come first.
    """

    a: Floats
    b: Floats
    c: Floats
    d: Floats
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    period: float = 0.0
    delays: Mapping[float, Floats] = field(default_factory=dict)
    requested: tuple[int, int] = (0, 0)

    def response(self, frequency: Floats) -> Complex:
        """Return the frequency response from the inputs to the requested outputs.

        Parameters
        ----------
        frequency
            In Hz, float64 of shape (k,).

        Returns
        -------
        complex128 of shape (p, m, k)
            With all delays, in the units of the signals.
        """
        m, p = self.requested
        response = np.empty((p, m, np.size(frequency)), dtype=np.complex128)
        for i, omega in enumerate(np.ravel(frequency)):
            s = 2j * math.pi * float(omega)
            at = complex(np.exp(s * self.period)) if self.period else s
            inner = np.linalg.solve(at * np.eye(len(self.states)) - self.a, self.b)
            transfer = np.asarray(self.c @ inner + self.d, dtype=np.complex128)
            back: Complex = np.zeros((len(self.inputs), len(self.outputs)), dtype=np.complex128)
            for delay, gain in self.delays.items():
                back += complex(np.exp(-s * delay)) * gain
            closed = np.linalg.solve(np.eye(len(self.outputs)) - transfer @ back, transfer)
            response[:, :, i] = closed[:p, :m]
        return response

    def modes(self, count: int = 6) -> list[complex]:
        """Return the rightmost roots, 1/s, one of each conjugate pair, the least damped first.

        Of a sampled model they are the logarithms of its multipliers over the period.
        """
        if self.delays:
            return DelayedLoop(self.a, self.b, self.c, self.d, self.delays).roots(count)
        roots = np.linalg.eigvals(self.a).astype(np.complex128)
        if self.period:
            roots = np.asarray(np.log(roots[np.abs(roots) > 0.0]) / self.period)
        upper = [complex(root) for root in roots if root.imag >= 0.0]
        return sorted(upper, key=lambda root: -root.real)[:count]


def linearise(
    system: System,
    *,
    at: str | float | None = None,
    delays: Delays | str = Delays.EXACT,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    order: int = 4,
    **options: Any,
) -> SystemModel:
    """Linearise a whole system where a run has led it.

    Parameters
    ----------
    system
        Any FMUs and blocks that can be linearised.
    at
        Time of the point, on the grid of communication steps; seconds or text; ``None``: the start.
    delays
        ``exact``: in continuous time with all delays; ``pade``: with Pade's approximations of them;
        ``sampled``: as the master steps it, inputs held over one period of its schedule.
    inputs
        Names of scalar inputs, ``component.input`` or ``component.input[1]``, to which something is
        added from outside; a sampled model has its unconnected inputs. ``None``: all
        Real ones that nothing is connected to.
    outputs
        Likewise of outputs; ``None``: all Real ones.
    order
        Of Pade's approximations.
    options
        Of :func:`linear_system`: ``step``, ``start``, ``algorithm``, ``delay``, ..

    Raises
    ------
    UnknownNameError
        If there is no such input or output.
    CapabilityError
        If a component cannot be linearised, or has no model in continuous time.
    DescriptionError
        If a sampled model shall have a connected input, or the lines have no solution.
    """
    kind = Delays(delays)
    flat = resolve(system).flat().closed()
    free = free_inputs(flat)
    every, reals = _reals(flat, Causality.INPUT), _reals(flat, Causality.OUTPUT)
    input_names = free if inputs is None else _known_names(flat, "input", inputs, every)
    output_names = reals if outputs is None else _known_names(flat, "output", outputs, reals)
    recorded = tuple(dict.fromkeys(name.partition("[")[0] for name in output_names))
    sources = [name for name in input_names if name in free]
    if kind is Delays.SAMPLED and len(sources) < len(input_names):
        connected = ", ".join(name for name in input_names if name not in free)
        raise DescriptionError(
            f"{connected}: expected inputs that nothing is connected to, as a sampled model holds"
            " them over a period; delays 'exact' and 'pade' take others, too"
        )
    linear = linear_system(with_sources(flat, sources), at=at, record=recorded, **options)
    if kind is Delays.SAMPLED:
        return _sampled(linear, input_names, output_names)
    names = list(flat.components)
    return _continuous(
        linear, names, input_names, output_names, order if kind is Delays.PADE else 0
    )


def _continuous(
    linear: LinearSystem,
    components: Sequence[str],
    inputs: Sequence[str],
    outputs: Sequence[str],
    order: int,
) -> SystemModel:
    """Close the lines without delays, and with an order above 0 Pade's approximations of others."""
    system = linear.system
    space = side_by_side(spaces_of(linear.models, components))
    lines = gains(system, numeric_lines(system), space.inputs, space.outputs)
    if order:
        space, lines = _with_pade(space, lines, order)
    loop = DelayedLoop.closed(
        space,
        lines,
        into=[space.inputs.index(name) for name in inputs],
        out_of=[space.outputs.index(name) for name in outputs],
    )
    m, p = loop.b.shape[1] - len(inputs), loop.c.shape[0] - len(outputs)
    return SystemModel(
        loop.a,
        loop.b,
        loop.c,
        loop.d,
        space.states,
        (*inputs, *(f"line {i + 1}" for i in range(m))),
        (*outputs, *(f"delayed {i + 1}" for i in range(p))),
        delays=dict(loop.gains),
        requested=(len(inputs), len(outputs)),
    )


def _with_pade(
    space: StateSpace, lines: Mapping[float, Floats], order: int
) -> tuple[StateSpace, Mapping[float, Floats]]:
    """Add an approximation of each delayed signal to a system, and the lines through them."""
    m, p = len(space.inputs), len(space.outputs)
    parts, rows, columns = [space], [], []
    for delay, gain in lines.items():
        if delay > 0.0:
            for j in np.flatnonzero(gain.any(axis=0)):
                parts.append(_pade(f"{space.outputs[j]} after {delay * 1e3:g} ms", order, delay))
                rows.append(int(j))
                columns.append(gain[:, j])
    matrix = np.zeros((m + len(rows), p + len(rows)))
    matrix[:m, :p] = lines.get(0.0, np.zeros((m, p)))
    for k, (row, column) in enumerate(zip(rows, columns, strict=True)):
        matrix[m + k, row] = 1.0
        matrix[:m, p + k] = column
    return side_by_side(parts), {0.0: matrix}


def _pade(name: str, order: int, delay: float) -> StateSpace:
    """Return an approximation of a delay, in companion form of the time over the delay."""
    above, below = pade_coefficients(order, 1.0)
    above, below = above / below[0], below / below[0]
    a = np.eye(order, k=1)
    a[-1] = -below[:0:-1]
    b = np.zeros((order, 1))
    b[-1] = 1.0
    c = (above - above[0] * below)[:0:-1][None]
    states = tuple(f"{name}: state {i + 1}" for i in range(order))
    return StateSpace(
        a / delay, b / delay, c, np.array([[above[0]]]), states, (name,), (f"{name}: late",)
    )


def _sampled(linear: LinearSystem, inputs: Sequence[str], outputs: Sequence[str]) -> SystemModel:
    """Return the map of one period, with inputs that are held over it by their sources."""
    period_map = linear.period_map()
    matrix, labels = period_map.matrix(), period_map.labels
    held = [period_map.within([source_of(name)]) for name in inputs]
    outside = {int(row) for rows in held for row in rows}
    inner = [row for row in range(period_map.size) if row not in outside]
    b = np.zeros((len(inner), len(inputs)))
    for column, rows in enumerate(held):
        b[:, column] = matrix[np.ix_(np.array(inner), rows)].sum(axis=1)
    c = np.zeros((len(outputs), len(inner)))
    for row, name in enumerate(outputs):
        c[row, inner.index(labels.index(_output_label(linear, name)))] = 1.0
    return SystemModel(
        matrix[np.ix_(inner, inner)],
        b,
        c,
        np.zeros((len(outputs), len(inputs))),
        tuple(labels[row] for row in inner),
        tuple(inputs),
        tuple(outputs),
        period_map.period,
        requested=(len(inputs), len(outputs)),
    )


def _output_label(linear: LinearSystem, name: str) -> str:
    """Name an output as the map of a period does: by its place among those of its component."""
    component = name.partition(".")[0]
    member = next(
        candidate for candidate in linear.schedule().members if candidate.name == component
    )
    connectors = linear.system.components[component].connectors
    names = signal_names(component, [connectors[output] for output in member.outputs])
    return f"{component}: output {names.index(name) + 1}"


def _reals(system: System, causality: Causality) -> list[str]:
    """Name all Real scalars of a kind."""
    return [
        name
        for component, part in system.components.items()
        for connector in part.connectors.values()
        if connector.causality is causality and connector.type is DataType.REAL
        for name in signal_names(component, [connector])
    ]


def _known_names(
    system: System, kind: str, names: Iterable[str], choices: Sequence[str]
) -> list[str]:
    requested = list(names)
    for name in requested:
        if name not in choices:
            raise UnknownNameError(
                f"system '{system.name}' has no {kind} '{name}'"
                f"{choices_for(name, choices, kind, 'its')}"
            )
    return requested
