"""FMI 1.0 Co-Simulation; see tests/fixtures/c_fmus/slave1.c."""

import logging

import numpy as np
import pytest

from orchestrator.core.diagnostics import CapabilityError, FmuError, StepError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import Fmu1Unit, fmu, make_unit, read_fmu
from orchestrator.core.system import Causality, System

SECOND = 10**9
INPUTS, OUTPUTS = ("u", "n", "flag"), ("y", "minus_y", "m", "not_flag")


@pytest.fixture(scope="module")
def slave(c_fmu):
    return c_fmu("slave1")


def start(path, **values):
    unit = Fmu1Unit("rig", read_fmu(path))
    unit.set_values(values)
    unit.bind(INPUTS, OUTPUTS)
    unit.setup(0, None)
    return unit


def outputs(unit):
    values = np.empty(len(OUTPUTS))
    unit.get(values)
    return values.tolist()


def test_description(slave):
    found = read_fmu(slave)
    assert (found.version, found.guid) == (1, "{slave1}")
    assert found.library == "binaries/linux64/slave1.so"
    description = found.description
    assert description.feedthrough == {
        "y": (), "minus_y": (), "m": ("n",), "not_flag": ("flag",),
    }  # fmt: skip
    gain = description.connectors["gain"]
    assert (gain.causality, gain.start) == (Causality.PARAMETER, 1.0)
    can = description.capabilities
    assert (can.can_roll_back, can.can_vary_step, can.input_order) == (False, True, 1)


def test_a_variable_of_another_namespace_is_refused(c_fmu, wording):
    def moved(text):
        text = text.replace("<ScalarVariable ", '<x:ScalarVariable xmlns:x="urn:x" ', 1)
        return text.replace("</ScalarVariable>", "</x:ScalarVariable>", 1)

    path = c_fmu("slave1", moved)
    with wording.raises(FmuError):
        read_fmu(path)


def test_values_of_all_types(slave, wording):
    unit = start(slave, gain=3.0)
    unit.set(np.array([2.0, 41.0, 1.0]))
    unit.initialise_outputs(0)
    assert outputs(unit) == [2.0, -2.0, 42.0, 0.0]  # y starts from the input
    unit.exit_initialisation()
    assert unit.do_step(0, SECOND).last_ns == SECOND
    assert outputs(unit) == [8.0, -8.0, 42.0, 0.0]
    assert unit.value("minus_y") == -8.0
    unit.set_value("label", "k\u00e4se")
    assert unit.value("label_out") == "k\u00e4se"
    with wording.raises(StepError):
        unit.set(np.array([0.0, 2.0**31, 0.0]))


def test_slopes(slave):
    unit = start(slave)
    unit.exit_initialisation()
    unit.set(np.array([1.0, 0.0, 0.0]))
    assert unit.native.set_input_derivatives(np.array([4.0, 0.0, 0.0]), 1) == 0
    unit.do_step(0, SECOND)
    assert outputs(unit)[0] == 3.0  # 1 s at the rate 1 + 4 t


@pytest.mark.parametrize("algorithm", ["gauss-seidel", "jacobi"])
def test_initialised_with_the_inputs_that_the_exchange_ends_with(slave, algorithm):
    """Each starts from the output of the one before, which only the first of them knows at once."""
    held = {"n": 0, "flag": False, "label": ""}
    system = System("chain")
    for name in ("c", "b", "a"):
        values = {**held, "u": 5.0} if name == "a" else held
        system = system.add(name, fmu(slave), gain=0.0, **values)
    system = system.connect("a.y", "b.u").connect("b.y", "c.u")
    with Execution(system, step="1 s", algorithm=algorithm) as run:
        assert run.get("c.y") == 5.0
        run.step()
        assert run.get("c.y") == 5.0


def test_log_reaches_its_own_unit(slave, caplog):
    with caplog.at_level(logging.INFO, "orchestrator.fmu"):
        one, two = make_unit(_named(slave, "one")), make_unit(_named(slave, "two"))
        for unit in (one, two):
            unit.bind((), ())
            unit.setup(0, None)
            unit.exit_initialisation()
        two.forward_log()
        one.forward_log()
    assert [(r.name, r.message) for r in caplog.records] == [
        ("orchestrator.fmu.two", "init: starts from 0"),
        ("orchestrator.fmu.one", "init: starts from 0"),
    ]


def _named(path, name):
    return System("s").add(name, fmu(path)).components[name]


def test_failures(slave, c_fmu, wording):
    unit = start(slave, fail_at=0.5)
    unit.exit_initialisation()
    assert unit.do_step(0, SECOND).status == 0
    result = unit.do_step(SECOND, SECOND)
    assert (result.status, result.last_ns) == (2, SECOND + SECOND // 2)
    assert result.reason == "stops half-way"
    refusing = start(slave, fail_at=-1.0)
    with wording.raises(StepError):
        refusing.exit_initialisation()
    with wording.raises(FmuError):
        start(c_fmu("slave1", lambda text: text.replace('"{slave1}"', '"other"')))
    with wording.raises(FmuError):
        start(c_fmu("slave1", options=("-Dslave1_fmiDoStep=hidden",)))
    with wording.raises(CapabilityError):
        start(slave).get_state()


def test_negated_aliases_are_outputs_only(c_fmu, wording):
    path = c_fmu(
        "slave1",
        lambda text: text.replace('name="gain" value', 'name="gain" alias="negatedAlias" value'),
    )
    with wording.raises(FmuError):
        read_fmu(path)
