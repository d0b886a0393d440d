"""Loop account: what the schedule of a run does to the modes of each loop.

For each group of components that act on each other: the modes of the continuous loop with its
declared delays, and those of the sampled loop that this schedule really makes. Their difference is
the error of the co-simulation, known without any run.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import CapabilityError, DescriptionError, first_of
from orchestrator.core.display import Listed, escaped
from orchestrator.core.structs import Struct
from orchestrator.core.system import (
    Connection,
    Connector,
    MappingTransformation,
    System,
    factor_and_offset_of,
)
from orchestrator.core.system.loops import ordered_rings
from orchestrator.loops.delayed_loop import DelayedLoop, side_by_side
from orchestrator.loops.multipliers import Multipliers
from orchestrator.loops.period_map import PeriodMap
from orchestrator.loops.state_space import Floats, StateSpace, UnitModel


def signal_names(component: str, connectors: Iterable[Connector]) -> tuple[str, ...]:
    """Name each scalar: ``component.connector``, with its number behind in an array."""
    names: list[str] = []
    for connector in connectors:
        full_name = f"{component}.{connector.name}"
        if connector.shape:
            names += [f"{full_name}[{i}]" for i in range(1, connector.size + 1)]
        else:
            names.append(full_name)
    return tuple(names)


def numeric_lines(system: System) -> list[Connection]:
    """Return the connections between components that carry numbers."""
    return [
        line
        for line in system.connections
        if line.source.component
        and line.target.component
        and not _source(system, line).type.is_text
    ]


def inner_lines(system: System, components: Iterable[str]) -> list[Connection]:
    """Return those of them that begin and end at some components."""
    names = set(components)
    return [
        line
        for line in numeric_lines(system)
        if line.source.component in names and line.target.component in names
    ]


def coupled_groups(system: System) -> list[tuple[str, ...]]:
    """Return the groups of components that act on each other, each in the order of the system.

    A component that acts on itself is a group of its own; one that is in no loop is in none.
    """
    edges = [(line.source.component, line.target.component) for line in numeric_lines(system)]
    self_coupled = {source for source, target in edges if source == target}
    groups = ordered_rings(list(system.components), edges)
    order = {name: i for i, name in enumerate(system.components)}
    return [
        tuple(sorted(group, key=order.__getitem__))
        for group in groups
        if len(group) > 1 or group[0] in self_coupled
    ]


def gains(
    system: System, lines: Iterable[Connection], inputs: Iterable[str], outputs: Iterable[str]
) -> Mapping[float, Floats]:
    """Return what inputs are of outputs, by the delay in seconds, 0 where there is none.

    system, lines: Which of its connections count.
    inputs, outputs: Names of scalars, as :func:`signal_names` makes them; others are left out.
    Raises CapabilityError: if a connection has a table of values: it has no gain.
    """
    rows = {name: i for i, name in enumerate(inputs)}
    columns = {name: i for i, name in enumerate(outputs)}
    gain_of_delay: dict[float, Floats] = {}
    for line in lines:
        if isinstance(line.transformation, MappingTransformation):
            raise CapabilityError(
                f"connection {line} has a table of values: no gain is in its place"
            )
        source = _source(system, line)
        target = system.components[line.target.component].connectors[line.target.connector]
        factor, _ = factor_and_offset_of(line, source, target)
        delay = 0.0 if line.delay is None else line.delay.nominal_ns / 1e9
        matrix = gain_of_delay.setdefault(delay, np.zeros((len(rows), len(columns))))
        ends = zip(
            signal_names(line.target.component, [target]),
            signal_names(line.source.component, [source]),
            strict=True,
        )
        for into, out_of in ends:
            if into in rows and out_of in columns:
                matrix[rows[into], columns[out_of]] = factor
    return gain_of_delay


def _source(system: System, line: Connection) -> Connector:
    return system.components[line.source.component].connectors[line.source.connector]


#: Number of reported modes of a group, the least damped first.
MODES = 6
#: Components of a loop that are named.
_LISTED = 8
#: Multipliers that are computed of large loops.
_LARGEST = 2 * MODES + 2
#: Modes that lose more than this factor in one period are no longer told: samples do not show them.
_FADED = math.exp(-math.pi)
#: A multiplier near 1 that equals 1 within this many of its uncertainties is a free motion.
_FREE = 30.0
#: Roots that are no larger, in 1/s, are such motions as well. In continuous time a double root is
#: found to the root of rounding, one of four to the fourth root. As sampled, models of a point that
#: moves leave such roots: the angles of an arm that starts to turn grow at 1e-8 1/s to 1e-6 1/s,
#: since its inertia is about to change. Nobody waits three hours for what they do.
_STILL = 1e-4
#: A root is that of a mode without doubt if it is no further off, as a share of it.
_ALIKE = 0.25
#: Errors of a growth rate are warned of from this share of its size on; see :func:`growth_size`.
SHARE = 0.05
#: Size of a growth rate near zero, as a share of the root.
_LEAST = 1e-3
#: An error that is no larger, as a share of the root, changes no sign: rounding and derivatives.
_NOISE = 1e-6


def growth_size(root: complex) -> float:
    """Return what errors of a growth rate are a share of, 1/s.

    That is the growth rate itself, but at least a thousandth of the root: near its limit a loop
    has no growth rate that anything could be a share of, and a damping ratio of 0.001 is felt by
    no one.
    """
    return max(abs(root.real), _LEAST * abs(root))


class Mode(Struct):
    """One mode of a loop.

    Parameters
    ----------
    sampled
        Root of the loop as the schedule makes it, 1/s: the logarithm of its multiplier over the
        period. Frequencies above half the sampling frequency are folded.
    exact
        The characteristic root of the continuous loop with its declared delays that is nearest as
        samples show it, 1/s, each of one mode; ``None`` where there is no continuous model.
    """

    sampled: complex
    exact: complex | None

    @property
    def growth(self) -> float:
        """Growth rate as sampled, 1/s; below zero the mode dies down."""
        return self.sampled.real

    @property
    def frequency(self) -> float:
        """Frequency as sampled, Hz."""
        return abs(self.sampled.imag) / (2.0 * math.pi)

    @property
    def damping(self) -> float:
        """Damping ratio as sampled; below zero where the mode grows."""
        return -self.sampled.real / abs(self.sampled) if self.sampled else 0.0

    @property
    def error(self) -> float:
        """Growth rate as sampled less that of the continuous loop, 1/s; NaN if not known."""
        return math.nan if self.exact is None else self.sampled.real - self.exact.real

    @property
    def is_misjudged(self) -> bool:
        """Whether the run shows it growing although it dies down, or the other way round."""
        return (
            self.exact is not None
            and self.sampled.real * self.exact.real < 0.0
            and abs(self.error) > _NOISE * abs(self.exact)
        )

    @property
    def is_off(self) -> bool:
        """Whether its growth rate is off by a twentieth of its size, or has the wrong sign."""
        if self.exact is None:
            return False
        return self.is_misjudged or abs(self.error) > SHARE * growth_size(self.exact)


class Modes(Listed[Mode]):
    """Modes of a loop."""

    __slots__ = ()
    columns = (
        "frequency [Hz]", "growth as sampled [1/s]", "in continuous time [1/s]", "damping ratio",
    )  # fmt: skip

    @staticmethod
    def cells(item: Mode) -> tuple[str, ...]:
        """Return the figures of a mode."""
        exact = math.nan if item.exact is None else item.exact.real
        return tuple(f"{f:.6g}" for f in (item.frequency, item.growth, exact, item.damping))


class LoopAccount(Struct):
    """What a schedule does to one group of components that act on each other.

    Parameters
    ----------
    components
        The group.
    modes
        Its least damped modes, growing modes first; free motions are left out.
    free
        Number of motions that nothing pulls back, as of bodies that float as a whole: multipliers
        that are 1 within rounding, or less than 1e-4 1/s away from it.
    size
        Numbers that the loop remembers from period to period.
    remarks
        What was left out, and what is doubtful.
    """

    components: tuple[str, ...]
    modes: tuple[Mode, ...]
    free: int
    size: int
    remarks: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return "\n".join(
            (
                f"loop of {self._names}",
                repr(Modes(self.modes)),
                *self.notes(),
            )
        )

    @property
    def _names(self) -> str:
        """The components; of very many the first."""
        names = self.components
        return first_of(names, _LISTED) if len(names) > _LISTED else ", ".join(names)

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{escaped(text)}</p>" for text in self.notes())
        heading = f"<p>loop of {escaped(self._names)}</p>"
        return f"{heading}{Modes(self.modes)._repr_html_()}{notes}"

    def notes(self) -> tuple[str, ...]:
        """Say how many motions are free, and then the remarks."""
        if not self.free:
            return self.remarks
        many = "s" if self.free > 1 else ""
        free = f"{self.free} free (rigid-body) motion{many} of 0 Hz: nothing pulls back what drifts"
        return (free, *self.remarks)

    def warnings(self) -> tuple[str, ...]:
        """Say which modes the schedule misjudges, and by how much."""
        messages = []
        for mode in self.modes:
            if mode.exact is None or not mode.is_off:
                continue
            exact, grows = mode.exact.real, mode.growth > 0.0
            opposite = ("decaying at " if grows else "growing at ") if mode.is_misjudged else ""
            messages.append(
                f"loop of {self._names}: the step distorts the mode at"
                f" {mode.frequency:.4g} Hz, which {'grows' if grows else 'decays'} at"
                f" {abs(mode.growth):.6g} 1/s instead of {opposite}{abs(exact):.6g} 1/s"
            )
        return tuple(messages)


def loop_accounts(
    system: System, models: Mapping[str, UnitModel], period_map: PeriodMap, *, count: int = MODES
) -> list[LoopAccount]:
    """Account for every loop of a system."""
    return [_account(system, models, period_map, group, count) for group in coupled_groups(system)]


def spaces_of(models: Mapping[str, UnitModel], components: Iterable[str]) -> list[StateSpace]:
    """Return the continuous models of some components."""
    spaces = {name: models[name].continuous for name in components}
    if missing := [f"'{name}'" for name, space in spaces.items() if space is None]:
        several = len(missing) > 1
        raise CapabilityError(
            f"component{'s' if several else ''} {', '.join(missing)} {'have' if several else 'has'}"
            " no model in continuous time: no rates do what their steps do, as of a component that"
            " samples or remembers samples"
        )
    return [space for space in spaces.values() if space is not None]


def continuous_loop(
    system: System, models: Mapping[str, UnitModel], components: Iterable[str]
) -> DelayedLoop:
    """Return some components and the lines between them, in continuous time."""
    names = list(components)
    space = side_by_side(spaces_of(models, names))
    lines = inner_lines(system, names)
    return DelayedLoop.closed(space, gains(system, lines, space.inputs, space.outputs))


def _account(
    system: System,
    models: Mapping[str, UnitModel],
    period_map: PeriodMap,
    group: tuple[str, ...],
    count: int,
) -> LoopAccount:
    remarks = [text for name in group for text in models[name].remarks]
    all_sampled, free = sampled_roots(period_map, group)
    sampled = all_sampled[:count]
    try:
        loop = continuous_loop(system, models, group)
        exact = _paired(loop, sampled, period_map.period)
        if loop.is_large:
            remarks.append(
                f"{len(group)} components: roots in continuous time are those near the sampled ones"
            )
    except (CapabilityError, DescriptionError) as error:
        remarks.append(f"no loop in continuous time: {error}")
        exact = [None] * len(sampled)
    modes = Modes(Mode(s, e) for s, e in zip(sampled, exact, strict=True))
    size = period_map.within(group).size
    return LoopAccount(group, modes, free, size, tuple(dict.fromkeys(remarks)))


def sampled_roots(period_map: PeriodMap, group: Iterable[str]) -> tuple[list[complex], int]:
    """Return the roots of a loop as the schedule makes it, and how many of its motions are free.

    The roots are in 1/s, one of each conjugate pair, the fastest growing first; roots that samples
    do not show and free motions are left out.
    """
    multipliers = period_map.modes(period_map.within(group), largest=_LARGEST)
    free = are_free(multipliers, period_map.period)
    values = multipliers.values[~free & (np.abs(multipliers.values) > _FADED)]
    rates = np.log(values) / period_map.period
    roots = [complex(s) for s in rates if s.imag >= -1e-9 * abs(s)]
    return sorted(roots, key=lambda s: -s.real), int(free.sum())


def are_free(multipliers: Multipliers, period: float) -> NDArray[np.bool_]:
    """Return which multipliers are of free motions, as none of :func:`exact_roots` is."""
    off = np.abs(multipliers.values - 1.0)
    near = off <= _FREE * multipliers.uncertainty  # NaN where it is not near
    return np.asarray(near | (off <= _STILL * period))


def exact_roots(loop: DelayedLoop, count: int, guesses: Iterable[complex] = ()) -> list[complex]:
    """Return the rightmost characteristic roots of a loop, without its free motions, 1/s."""
    return loop.roots(count, list(guesses), still=_STILL)


def _paired(loop: DelayedLoop, sampled: Sequence[complex], period: float) -> list[complex | None]:
    """Return the characteristic root that belongs to each sampled one: the nearest.

    Loops with an equal one come first, in their order, so that two that are both shifted do not
    take each other's. Samples show a frequency folded below half of theirs, and so it is compared.
    """
    if loop.is_large:
        roots = [root for root in loop.near(sampled) if abs(root) >= _STILL]
    else:
        roots = exact_roots(loop, 2 * len(sampled) + 4, sampled)
    turn = 2.0 * math.pi / period
    folded = [
        complex(folded_root.real, abs(math.remainder(folded_root.imag, turn)))
        for folded_root in roots
    ]
    pairs = []
    for index, s in enumerate(sampled):
        for i, image in enumerate(folded):
            distance = abs(image - s)
            alike = distance <= _ALIKE * abs(s)
            pairs.append((not alike, index if alike else 0, distance, index, i))
    partner: dict[int, int] = {}
    for *_, index, i in sorted(pairs):
        if index not in partner and i not in partner.values():
            partner[index] = i
    return [roots[partner[index]] if index in partner else None for index in range(len(sampled))]
