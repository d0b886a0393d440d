"""What every registered block must do; a new one is here as soon as its entry point is."""

import copy
import inspect
import re
from importlib.metadata import entry_points
from itertools import pairwise

import numpy as np
import pytest

from orchestrator.core.simunits import Block, BlockUnit
from orchestrator.core.simunits.blocks.block_unit import describe_block
from orchestrator.core.system import Causality, DataType
from orchestrator.core.units.conversion import base_unit

BLOCKS = {entry.name: entry for entry in entry_points(group="softdock.blocks")}
H = 1_000_000


@pytest.fixture(params=sorted(BLOCKS))
def kind(request):
    return BLOCKS[request.param].load()


def of(kind, *causalities):
    return [c for c in kind.connectors.values() if c.causality in causalities]


def unit(kind):
    made = BlockUnit("b", describe_block("b", kind), kind())
    inputs, outputs = of(kind, Causality.INPUT), of(kind, Causality.OUTPUT)
    made.bind([c.name for c in inputs], [c.name for c in outputs])
    made.setup(0, None)
    made.initialise_outputs(0)
    made.exit_initialisation()
    return made


def inputs_of(made, seed):
    """Inputs that a rig could show: small Reals, whole Integers, any Boolean."""
    random = np.random.default_rng(seed)
    values = []
    for connector in made.inputs:
        size = connector.size
        if connector.type is DataType.REAL:
            values += list(random.normal(0.0, 0.1, size))
        elif connector.type is DataType.INTEGER:
            values += list(random.integers(0, 3, size))
        else:
            values += list(random.integers(0, 2, size))
    return np.array(values, dtype=np.float64)


def outputs_of(made):
    values = np.empty(sum(c.size for c in made.outputs))
    made.get(values)
    return values


def table_of(kind):
    """Rows of the connector table in the docstring: name -> (causality, unit)."""
    text = inspect.getdoc(kind)
    rule = r"^=+ =+ =+ =+$"
    tables = re.findall(rf"{rule}\nconnector.*\n{rule}\n((?:.+\n)+?){rule}", text, re.MULTILINE)
    assert tables, "the docstring has no table of connectors: connector, causality, unit, meaning"
    rules = re.search(rule, text, re.MULTILINE)[0]
    starts = [m.start() for m in re.finditer(r"(?<!=)=", rules)]
    rows = {}
    for line in tables[0].splitlines():
        names, causality, unit = (line[a:b].strip() for a, b in pairwise(starts))
        assert line[starts[3] :].strip(), f"no meaning in: {line}"
        rows.update(dict.fromkeys((n.strip() for n in names.split(",")), (causality, unit)))
    return rows


def test_entry_points_load(kind):
    assert issubclass(kind, Block)


def test_docstring(kind):
    rows = table_of(kind)
    declared = {c.name: (str(c.causality), c.unit or "") for c in kind.connectors.values()}
    assert set(rows) == set(declared)
    for name, (causality, shown) in rows.items():
        assert causality == declared[name][0], name
        # Where there is no unit a dash or 1 may stand for it.
        assert shown in {declared[name][1], *(["-", "1"] if declared[name][1] in {"", "1"} else [])}
    assert "\nReferences\n---" in inspect.getdoc(kind)


def test_units_and_descriptions(kind):
    for connector in kind.connectors.values():
        assert connector.description, f"{connector.name} has no description"
        if connector.type is DataType.REAL:
            assert connector.unit, f"{connector.name} has no unit ('1' for a number)"
            assert base_unit(connector.unit), connector.name  # raises if it is not a unit


def test_finite_at_the_start(kind):
    assert np.isfinite(outputs_of(unit(kind))).all()


def test_a_step_is_repeatable(kind):
    """From a saved state the same inputs give the same outputs, bit for bit."""
    made = unit(kind)

    def go(first, count):
        rows = []
        for i in range(first, first + count):
            made.set(inputs_of(made, i))
            assert not made.do_step(i * H, H).failed
            rows.append(outputs_of(made))
        return np.array(rows)

    go(0, 5)
    saved = made.get_state()
    witness = copy.deepcopy(saved)
    first = go(5, 10)
    made.set_state(saved)
    np.testing.assert_array_equal(go(5, 10), first)
    assert witness.keys() == saved.keys()
    for name, value in saved.items():  # going on did not reach into the saved state
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, witness[name])


def test_two_instances_are_the_same_and_apart(kind):
    one, two = unit(kind), unit(kind)
    for i in range(5):
        for made in (one, two):
            made.set(inputs_of(made, i))
            made.do_step(i * H, H)
        np.testing.assert_array_equal(outputs_of(one), outputs_of(two))
