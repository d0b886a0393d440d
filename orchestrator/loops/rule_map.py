"""How any co-simulation master exchanges, as data, and the loops of a system under its rule.

With x the states of all units, y what was handed on last, and u = G y along the lines:

    (x', y_end) = T (x, u),    y' = y_end, or (I - D G)^-1 C x' where outputs are read again

T is one step of the linear models with inputs held, C and D their outputs in continuous time. The
matrix is put together here and not by the engine, which knows no other master; that both agree
where the engine can do the same (Jacobi, plain delays) is tested.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.coupling import DelayMode
from orchestrator.core.diagnostics import (
    CapabilityError,
    DescriptionError,
    SoftdockError,
    UnknownNameError,
    choices_for,
)
from orchestrator.core.simunits import open_description, resolve
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import Connection, SourceKind, System
from orchestrator.loops.delayed_loop import DelayedLoop, side_by_side
from orchestrator.loops.loop_account import (
    LoopAccount,
    coupled_groups,
    gains,
    inner_lines,
    loop_accounts,
    numeric_lines,
    signal_names,
    spaces_of,
)
from orchestrator.loops.multipliers import MemoryKind, Multipliers, Number
from orchestrator.loops.period_map import PeriodMap, common_steps
from orchestrator.loops.run_account import LinearSystem
from orchestrator.loops.state_space import Floats, StateSpace
from orchestrator.loops.step_error import LoopModes, at_step, step_error


class OutputReading(StrEnum):
    """When a master reads the outputs that it hands on.

    ``after_step``
        Once, after the step, so that what an input does to an output at once is a step old.
    ``after_inputs``
        Again after the inputs were set, in the order of direct feed-through, loops solved: an
        output that depends on an input at once belongs to the same moment as it.
    """

    AFTER_STEP = "after_step"
    AFTER_INPUTS = "after_inputs"


class Evidence(StrEnum):
    """How a rule is known: by ``run`` of the tool itself, or by its ``document`` or sources."""

    RUN = "run"
    DOCUMENT = "document"


class MasterRule(Struct):
    """What a master with steps of one length does between and during them.

    All units are stepped from the same time (Jacobi), with inputs held at what was handed on.
    Delays, rates and compensations of lines are Softdock's own, and no other tool knows them.

    name, tool: How it is called here, and which tool and version it is of.
    evidence, source: How the rule is known, and from where.
    outputs: When outputs are read.
    transforms, converts: Whether linear transformations of connections are applied, and units
        converted.
    fmi, nested: Versions of FMI that the tool steps, and whether it opens systems within systems.
    """

    name: str
    tool: str
    evidence: Evidence
    source: str
    outputs: OutputReading = OutputReading.AFTER_STEP
    transforms: bool = False
    converts: bool = False
    fmi: tuple[str, ...] = ("1.0", "2.0", "3.0")
    nested: bool = True

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "tool": self.tool,
            "order": "jacobi",
            "inputs": "held",
            "outputs": str(self.outputs),
            "transforms": self.transforms,
            "converts": self.converts,
            "evidence": str(self.evidence),
            "source": self.source,
        }


_RULES = (
    MasterRule(
        "fmpy",
        "FMPy 0.3.32, simulate_ssp",
        Evidence.RUN,
        "benchmarks/certify.py",
        fmi=("1.0", "2.0"),
    ),
    MasterRule(
        "libcosim",
        "libcosim (libcosimpy 0.0.6), fixed step",
        Evidence.RUN,
        "benchmarks/certify.py",
        transforms=True,
        fmi=("1.0", "2.0"),
        nested=False,
    ),
    MasterRule(
        "ecos",
        "ecos (ecospy 0.7.2), fixed step",
        Evidence.RUN,
        "benchmarks/certify.py",
        transforms=True,
    ),
    MasterRule(
        "omsimulator",
        "OMSimulator 3, oms-ma",
        Evidence.DOCUMENT,
        "its sources: SystemWC::doStep, then updateInputs in the order of the graph",
        OutputReading.AFTER_INPUTS,
        transforms=True,
        converts=True,
    ),
    MasterRule(
        "pyfmi",
        "PyFMI 2.21, Master with its default options",
        Evidence.DOCUMENT,
        "its sources: exchange_connection_data, linear_correction and extrapolation off",
    ),
    MasterRule(
        "simulink",
        "Simulink, co-simulation FMU blocks without numerical compensation",
        Evidence.DOCUMENT,
        "its manual: inputs are those of the communication points alone",
    ),
)
#: By name.
MASTERS = {rule.name: rule for rule in _RULES}


def master_rules(names: Iterable[str]) -> list[MasterRule]:
    """Return rules by their names, each once.

    Raises UnknownNameError: if there is no such master; it lists the existing ones.
    """
    listed = list(dict.fromkeys(names))
    for name in listed:
        if name not in MASTERS:
            raise UnknownNameError(f"no master '{name}'{choices_for(name, MASTERS, 'master')}")
    return [MASTERS[name] for name in listed]


def obstacles_of(system: System, rule: MasterRule) -> Iterator[str]:
    """Say what a tool cannot run of a system."""
    if system.systems and not rule.nested:
        yield f"it opens no nested systems ({', '.join(system.systems)})"
    components = resolve(system, runnable=False).flat().components
    others = [name for name, part in components.items() if part.source.kind is not SourceKind.FMU]
    if others:
        yield f"{', '.join(others)}: not an FMU"
    newer = []
    for name, component in components.items():
        if component.source.kind is SourceKind.FMU:
            with suppress(SoftdockError):
                version = open_description(Path(component.source.location)).fmiVersion
                if version not in rule.fmi:
                    newer.append(f"{name} (FMI {version})")
    if newer:
        yield f"it steps FMI {' and '.join(rule.fmi)}, not {', '.join(newer)}"


class RuledSystem(LinearSystem, kw_only=True):
    """A system as another master steps it; it knows only the gain of lines.

    declared: The system with what the master does not know.
    rule: How it exchanges.
    joined: Components that are one unit, whose lines among them are exact.
    """

    declared: System
    rule: MasterRule
    joined: tuple[str, ...] = ()

    @classmethod
    def of(cls, linear: LinearSystem, rule: MasterRule) -> RuledSystem:
        """Let a master with this rule step a system that was linearised."""
        lines = (  # what it does not look at is taken off them
            replace(
                line,
                transformation=line.transformation if rule.transforms else None,
                suppress_unit_conversion=line.suppress_unit_conversion or not rule.converts,
            )
            for line in linear.system.connections
        )
        attributes = {field.name: getattr(linear, field.name) for field in fields(LinearSystem)}
        attributes["system"] = replace(linear.system, connections=tuple(lines))
        attributes["master"] = replace(linear.master, rates={})
        return cls(**attributes, declared=linear.system, rule=rule)

    def period_map(self, only: int | None = None) -> PeriodMap:
        """Return the map of one step, or of the common period of the units that sample."""
        return RuleMap(self, only)

    def loop_accounts(self, count: int = 6) -> list[LoopAccount]:
        """Say what the rule does to every loop, next to the loops as declared."""
        return loop_accounts(self.declared, self.models, self.period_map(), count=count)


class _SteppedUnit(Struct):
    """What is stepped at once: names of components, inputs and outputs, states and one step."""

    components: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    states: int
    steps: tuple[Floats, ...]


class RuleMap(PeriodMap):
    """What a master's period does to the states of all units and to what they hand on.

    only: A step of the period, from 0 on; ``None``: all of them, one where no unit samples.
    """

    def __init__(self, system: RuledSystem, only: int | None = None) -> None:
        units = list(_units(system))
        phases = common_steps(system.schedule(), system.models)
        inputs = [name for unit in units for name in unit.inputs]
        outputs = [name for unit in units for name in unit.outputs]
        inside = set(system.joined)
        lines = [
            line
            for line in numeric_lines(system.system)
            if not {line.source.component, line.target.component} <= inside
        ]
        along = _along(system.system, lines, inputs, outputs)
        n = sum(unit.states for unit in units)
        matrix = np.eye(n + len(outputs))
        for step in range(phases) if only is None else (only,):
            matrix = _step(units, along, step) @ matrix
        if system.rule.outputs is OutputReading.AFTER_INPUTS:
            space = side_by_side([_space(system, unit.components) for unit in units])
            through = np.eye(len(outputs)) - space.d @ along
            if np.linalg.cond(through) > 1.0 / np.finfo(np.float64).eps:
                raise CapabilityError(
                    "loops without a state have no solution: they feed outputs back with gain 1"
                )
            matrix[n:] = np.linalg.solve(through, space.c) @ matrix[:n]
        owned = [(frozenset(unit.components), unit) for unit in units]
        self._numbers = [
            *(Number(o, MemoryKind.STATE, "state") for o, u in owned for _ in range(u.states)),
            *(Number(o, MemoryKind.OUTPUT, name) for o, u in owned for name in u.outputs),
        ]
        self._whole, self._places = matrix, [len(matrix)]
        self.steps = phases if only is None else 1
        self.period = self.steps * system.step_ns / 1e9

    def matrix(self, rows: NDArray[np.intp] | None = None) -> Floats:
        """Return the map among some of the numbers, by default all: float64 of shape (k, k)."""
        return self._whole if rows is None else self._whole[np.ix_(rows, rows)]

    def modes(self, rows: NDArray[np.intp] | None = None, *, largest: int = 0) -> Multipliers:
        """Return the eigenvalues of one step, the largest first: all of them."""
        return super().modes(rows)


def _step(units: Sequence[_SteppedUnit], along: Floats, number: int) -> Floats:
    """Return what one step does to states and outputs, of which inputs are ``along`` times those.

    number: Of the step, from the start of the run.
    """
    n = sum(unit.states for unit in units)
    matrix = np.zeros((n + along.shape[1], n + along.shape[1]))
    state, output, column = 0, n, 0
    for unit in units:
        own_step = unit.steps[number % len(unit.steps)]
        by_inputs = own_step[:, unit.states :] @ along[column : column + len(unit.inputs)]
        into = slice(state, state + unit.states)
        out = slice(output, output + len(unit.outputs))
        matrix[into, into], matrix[out, into] = (
            own_step[: unit.states, : unit.states],
            own_step[unit.states :, : unit.states],
        )
        matrix[into, n:], matrix[out, n:] = by_inputs[: unit.states], by_inputs[unit.states :]
        state, output = state + unit.states, output + len(unit.outputs)
        column += len(unit.inputs)
    return matrix


def _units(system: RuledSystem) -> Iterator[_SteppedUnit]:
    """Give what is stepped at once; the joined components are the first of them."""
    again = system.rule.outputs is OutputReading.AFTER_INPUTS
    if system.joined:
        yield _continuous(system, system.joined)
    for member in system.schedule().members:
        if member.name in system.joined:
            continue
        if again:
            yield _continuous(system, (member.name,))
            continue
        model = system.models[member.name]
        connectors = system.system.components[member.name].connectors
        inputs, outputs = (
            signal_names(member.name, [connectors[port] for port in side])
            for side in (member.inputs, member.outputs)
        )
        steps = model.transitions(system.step_ns, order=0)
        yield _SteppedUnit((member.name,), inputs, outputs, len(model.states), steps)


def _continuous(system: RuledSystem, components: tuple[str, ...]) -> _SteppedUnit:
    """Return what is stepped at once by its model in continuous time."""
    space = _space(system, components)
    step = space.transition(system.step_ns / 1e9, order=0)
    return _SteppedUnit(components, space.inputs, space.outputs, len(space.states), (step,))


def _space(system: RuledSystem, components: Sequence[str]) -> StateSpace:
    """Return some components as one model, the lines among them exact; one as it is."""
    space = side_by_side(spaces_of(system.models, components))
    if len(components) == 1:
        return space
    lines = inner_lines(system.system, components)
    loop = DelayedLoop.closed(
        space,
        {0.0: _along(system.system, lines, space.inputs, space.outputs)},
        into=range(len(space.inputs)),
        out_of=range(len(space.outputs)),
    )
    return replace(space, a=loop.a, b=loop.b, c=loop.c, d=loop.d)


def _along(
    system: System, lines: Sequence[Connection], inputs: Sequence[str], outputs: Sequence[str]
) -> Floats:
    """Return what inputs are of outputs along lines whose delays nobody knows."""
    by_delay = gains(system, lines, inputs, outputs).values()
    return sum(by_delay, np.zeros((len(inputs), len(outputs))))


#: Algorithms that are tried in every delay mode.
_ALGORITHMS = ("jacobi", "gauss-seidel", "newton", "waveform")
#: Pairs of components that are tried as one, and reported remedies, at most.
_MOST_PAIRS, _MOST = 12, 6


class Remedy(Struct):
    """Something else that could be done.

    text: In a sentence.
    share: Largest error of a growth rate or frequency then, as a share of its size.
    """

    text: str
    share: float

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {"what": self.text, "error": self.share}


def remedies(linear: LinearSystem, modes: Sequence[LoopModes]) -> tuple[Remedy, ...]:
    """Try other algorithms, delay modes and partitions at the same step; the best come first.

    Partitions are those of a master that knows neither delays nor any order (Jacobi).
    """
    remedies_found = []
    for description, stepped in _ways(linear):
        try:
            remedies_found.append(Remedy(description, step_error(stepped, modes).share))
        except (CapabilityError, DescriptionError):
            continue  # it is no way for this system
    remedies_found.sort(key=lambda remedy: remedy.share)
    return tuple(remedies_found[:_MOST])


def _ways(linear: LinearSystem) -> Iterator[tuple[str, LinearSystem]]:
    for algorithm in _ALGORITHMS:
        for mode in DelayMode:
            is_own = (algorithm, mode) == (linear.master.algorithm, linear.delay)
            description = (
                f"Softdock, {algorithm}, delay {mode}{' (as it is run)' if is_own else ''}"
            )
            yield description, at_step(replace(linear, delay=mode), linear.step_ns, algorithm)
    plain = RuledSystem.of(linear, MASTERS["libcosim"])
    yield "any Jacobi master", plain
    pairs = {
        tuple(sorted((line.source.component, line.target.component))): None
        for group in coupled_groups(linear.system)
        for line in inner_lines(linear.system, group)
        if line.delay is None and line.source.component != line.target.component
    }
    for pair in list(pairs)[:_MOST_PAIRS]:
        yield f"any Jacobi master, {pair[0]} and {pair[1]} in one FMU", replace(plain, joined=pair)
