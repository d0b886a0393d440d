"""Declared feed-through is true: every delay that a run reports rests on it."""

from pathlib import Path

import numpy as np
import pytest

from orchestrator.simunits import component_of, make_unit
from orchestrator.simunits.registry import block_names
from orchestrator.system import Causality, DataType, Source

ROOT = Path(__file__).parents[2]
PLANTS = sorted(path.stem for path in (ROOT / "fmus").glob("*.toml"))
#: Tried from these seeds; an output that moves for none of them is taken not to depend.
SEEDS = range(40)


def sources():
    return [f"block:{name}" for name in block_names()] + [f"{name}.fmu" for name in PLANTS]


def outputs(component, values):
    unit = make_unit(component)
    unit.set_values(values)
    unit.bind([], [c.name for c in component.of(Causality.OUTPUT)])
    unit.setup(0, None)
    unit.initialise_outputs(0)
    found = np.empty(sum(c.size for c in unit.outputs))
    unit.get(found)
    names = [c.name for c in unit.outputs for _ in range(c.size)]
    return names, found


def drawn(connector, random):
    if connector.type is DataType.REAL:
        low = 0.1 if connector.causality is Causality.PARAMETER else -1.0
        values = tuple(random.uniform(low, 1.0, connector.size).tolist())
        return values if connector.shape else values[0]
    return (
        int(random.integers(5)) if connector.type is DataType.INTEGER else bool(random.integers(2))
    )


@pytest.mark.parametrize("text", sources())
def test_outputs_move_at_once_with_what_they_declare_and_nothing_else(text, plants):
    folder = plants if text.endswith(".fmu") else ROOT
    component = component_of(Source.parse(text).resolved(folder))
    moved = set()
    for seed in SEEDS:
        random = np.random.default_rng(seed)
        inputs = component.of(Causality.INPUT)
        # Parameters too: with a damping of zero a velocity would be without effect.
        free = [*inputs, *component.of(Causality.PARAMETER)]
        values = {c.name: drawn(c, random) for c in free}
        names, before = outputs(component, values)
        for connector in inputs:
            _, after = outputs(component, {**values, connector.name: drawn(connector, random)})
            changed = np.flatnonzero(before != after)
            moved |= {(names[i], connector.name) for i in changed}
    declared = {
        (output.name, name)
        for output in component.of(Causality.OUTPUT)
        for name in component.direct_inputs(output.name)
    }
    assert moved <= declared, "an undeclared feed-through hides algebraic loops"
    assert moved >= declared, "a declared one without effect adds H/2 to the loops through it"
