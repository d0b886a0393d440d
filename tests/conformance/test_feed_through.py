"""Declared feed-through is true: every delay that a run reports rests on it."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from fmpy import read_model_description

from orchestrator.core.simunits import component_of, make_unit
from orchestrator.core.simunits.registry import block_names
from orchestrator.core.system import Causality, DataType, Source

ROOT = Path(__file__).parents[2]
#: A rope that is drawn at random is torn: tests/unit/export/plants/test_planar_rope.py.
TORN = {"PlanarRope", "SpatialRope", "FreeRope", "SnareRope", "FloatingSnareRope"}
#: Pushes only what is led onto it, which nothing drawn at random is: tests/reproduction/snare.
MISSED = {"FlushLock"}
PLANTS = sorted({path.stem for path in (ROOT / "fmus").glob("*.toml")} - TORN - MISSED)
#: Tried from these seeds; an output that moves for none of them is taken not to depend.
SEEDS = range(40)
#: Units that judge what they are given: with any other geometry and limits they only say no.
JUDGES = {
    "block:stewart_inverse",
    "block:stewart_forward",
    "block:equivalent_mass",
}
#: Units that begin at rest whatever they are given: these answer in their first step.
RESTING = {
    "block:differentiator",
    "block:shaft_accelerometer",
    "block:shaft_kalman",
    "block:shaft_motion",
}
#: Blocks that declare more than an output follows at one time, and have tests of their own: what
#: it follows is chosen by a parameter, begins at a limit, or needs more than one sample.
BY_THEMSELVES = {
    "block:load_command",
    "block:passivity_controller",
    "block:seven_joint_arm",
    "block:shaft_observer",
    "block:two_joint_arm",
}
#: What must be so for an output to move: friction follows its load only while it sticks.
HELD = {"AirBearing.fmu": {"v0": 0.0}}
#: Outputs that follow an input after an event only, when what stuck moves.
AFTER_EVENTS = {"MotorBench.fmu": {"dissipation", "supplied"}}


def sources():
    blocks = [f"block:{name}" for name in block_names()]
    return [text for text in blocks if text not in BY_THEMSELVES] + [f"{n}.fmu" for n in PLANTS]


def outputs(component, values, starts, then=None):
    """Outputs at the start, or with ``then`` after a step of 1 ms to which those inputs belong."""
    unit = make_unit(component)
    unit.set_values(values)
    for reference, value in starts.items():
        assert unit.native.set_real([reference], [value]) == 0
    fed = [c.name for c in component.of(Causality.INPUT)] if then is not None else []
    unit.bind(fed, [c.name for c in component.of(Causality.OUTPUT)])
    unit.setup(0, None)
    unit.initialise_outputs(0)
    if then is not None:
        unit.exit_initialisation()
        unit.set(np.array([then[name] for name in fed]))
        unit.do_step(0, 1_000_000)
    found = np.empty(sum(c.size for c in unit.outputs))
    unit.get(found)
    names = [c.name for c in unit.outputs for _ in range(c.size)]
    return names, found


def drawn(connector, random):
    if connector.type is DataType.REAL:
        low = 0.1 if connector.causality is Causality.PARAMETER else -1.0
        if connector.limits and connector.limits.least > low:
            low = 1.01 * connector.limits.least
        values = tuple(random.uniform(low, max(1.0, 2.0 * low), connector.size).tolist())
        return values if connector.shape else values[0]
    if connector.type is DataType.BOOLEAN:
        return bool(random.integers(2))
    if connector.type is DataType.STRING:
        return connector.start
    least = 1 if connector.causality is Causality.PARAMETER else 0
    if connector.limits:
        least = int(connector.limits.least)
    return least + int(random.integers(5))


def near(connector, random, spread):
    """A value of an input about its start, and of a parameter the default."""
    if connector.causality is Causality.PARAMETER:
        return connector.start
    values = np.ravel(connector.start) + spread * random.uniform(-1.0, 1.0, connector.size)
    return tuple(values.tolist()) if connector.shape else float(values[0])


def inner_states(path):
    """Value references of the states of an FMU that are no outputs and may be given a start."""
    described = read_model_description(str(path))
    return [
        v.valueReference
        for v in described.modelVariables
        if (v.type, v.causality, v.initial) == ("Real", "local", "exact")
        and v.variability == "continuous"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("text", sources())
def test_outputs_move_at_once_with_what_they_declare_and_nothing_else(text, plants):
    folder = plants if text.endswith(".fmu") else ROOT
    component = component_of(Source.parse(text).resolved(folder))
    # A mode may follow an input only while the unit moves: the start values of its states, too.
    states = inner_states(component.source.location) if text.endswith(".fmu") else []
    moved = set()
    for seed in SEEDS:
        random = np.random.default_rng(seed)
        draw = partial(near, spread=0.05 + 0.05 * (seed % 10)) if text in JUDGES else drawn
        inputs = component.of(Causality.INPUT)
        # Parameters too: with a damping of zero a velocity would be without effect.
        free = [*inputs, *component.of(Causality.PARAMETER)]
        values = {c.name: draw(c, random) for c in free} | HELD.get(text, {})
        starts = {reference: random.uniform(-1.0, 1.0) for reference in states}
        rest = values if text in RESTING else None
        names, before = outputs(component, values, starts, rest)
        for connector in inputs:
            others = {**values, connector.name: draw(connector, random)}
            first = values if text in RESTING else others
            _, after = outputs(component, first, starts, others if text in RESTING else None)
            changed = np.flatnonzero(before != after)
            moved |= {(names[i], connector.name) for i in changed}
    declared = {
        (output.name, name)
        for output in component.of(Causality.OUTPUT)
        for name in component.direct_inputs(output.name)
    }
    assert moved <= declared, "an undeclared feed-through hides algebraic loops"
    # A mode that is whole follows an input at an event, after the start.
    late = {o.name for o in component.of(Causality.OUTPUT) if o.type is DataType.INTEGER}
    late |= AFTER_EVENTS.get(text, set())
    declared = {(output, name) for output, name in declared if output not in late}
    assert moved >= declared, "a declared one without effect adds H/2 to the loops through it"
