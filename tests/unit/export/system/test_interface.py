"""What an importer sees of an exported system, and what it can set."""

from dataclasses import replace
from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmpy.validation import validate_fmu

from orchestrator.core.master import Execution
from orchestrator.core.simunits import fmu
from orchestrator.core.system import Causality, Connector, DataType, System
from orchestrator.export.system import export_system

ROOT = Path(__file__).parents[4]


def variables(path):
    return {v.name: v for v in fmpy.read_model_description(str(path)).modelVariables}


@pytest.mark.parametrize("fmi", [2, 3])
def test_variables_of_a_system(driven, tmp_path, fmi):
    path = export_system(driven(), tmp_path / "x.fmu", fmi=fmi, step="1 ms")
    assert validate_fmu(str(path)) == []
    found = variables(path)
    seen = {n: (v.causality, v.variability, v.unit, v.start) for n, v in found.items()}
    assert seen["push"] == ("input", "continuous", "N", "0.0")
    assert seen["position"] == ("output", "continuous", "m", None)
    assert seen["chaser.velocity"] == ("local", "continuous", "m/s", None)
    assert seen["chaser.m"] == ("parameter", "tunable", "kg", "750.0")
    assert seen["sheet.latched"] == ("parameter", "fixed", None, "true")  # as inside
    assert seen["chaser.virtual_force"] == ("parameter", "tunable", "N", "0.0")  # held from inside
    assert "chaser.thrust" not in found  # fed from outside
    description = fmpy.read_model_description(str(path))
    assert description.variableNamingConvention == "structured"
    assert description.coSimulation.canGetAndSetFMUstate
    assert not description.coSimulation.canHandleVariableCommunicationStepSize
    assert float(description.defaultExperiment.stepSize) == 1e-3


def test_an_input_is_held_over_a_communication_step(driven, tmp_path, instance, begin):
    """As an input that is set between the steps of an execution; bit by bit."""
    closed = driven()
    inside = replace(closed, connectors={}, connections=closed.connections[:-2])
    steps = 200
    push = 3.0 * np.sin(np.arange(steps) * 0.05)
    with Execution(inside.set("chaser.thrust", 0.0), step="1 ms") as run:
        expected = []
        for value in push:
            run.set("chaser.thrust", float(value))
            run.step()
            expected.append(run.get("chaser.position"))
    slave, at = instance(export_system(closed, tmp_path / "x.fmu", step="1 ms"))
    begin(slave)
    found = []
    for number, value in enumerate(push):
        slave.setReal([at["push"]], [value])
        slave.doStep(number * 1e-3, 1e-3)
        found.append(slave.getReal([at["position"]])[0])
    np.testing.assert_array_equal(found, expected)
    assert max(found) - min(found) > 1e-3


@pytest.mark.parametrize("mode", ["mean", "plain"])
def test_a_delayed_output_is_the_signal_that_much_earlier(driven, tmp_path, instance, begin, mode):
    path = export_system(driven(outgoing="7 ms"), tmp_path / "x.fmu", step="1 ms", delay=mode)
    slave, at = instance(path)
    begin(slave)
    rows = []
    for number in range(100):
        slave.doStep(number * 1e-3, 1e-3)
        rows.append(slave.getReal([at["chaser.position"], at["position"]]))
    position, late = np.array(rows).T
    # Between equal samples both ways to read a history give the sample, but for one rounding.
    np.testing.assert_allclose(late[7:], position[:-7], rtol=0, atol=1e-15)


def test_a_delayed_input_arrives_that_much_later(driven, tmp_path, instance, begin):
    """Plain delays hold samples: an input that jumps at 10 ms acts from 13 ms on."""
    path = export_system(driven(incoming="3 ms"), tmp_path / "x.fmu", step="1 ms", delay="plain")
    slave, at = instance(path)
    begin(slave)
    velocity = []
    for number in range(20):
        slave.setReal([at["push"]], [1000.0 if number >= 10 else 0.0])
        slave.doStep(number * 1e-3, 1e-3)
        velocity.append(slave.getReal([at["chaser.velocity"]])[0])
    change = np.diff(velocity)
    first = int(np.flatnonzero(change > 1e-4)[0]) + 1  # the step whose end shows it
    assert first == 13


def test_parameters_act_before_the_start_and_tunable_ones_later(driven, tmp_path, instance, begin):
    slave, at = instance(export_system(driven(), tmp_path / "x.fmu", step="1 ms"))
    slave.setReal([at["chaser.v0"]], [0.25])
    assert slave.getReal([at["chaser.v0"]]) == [0.25]
    begin(slave)
    assert slave.getReal([at["chaser.velocity"]]) == [0.25]
    with pytest.raises(Exception, match="fmi2SetReal failed"):
        slave.setReal([at["chaser.v0"]], [0.5])  # a fixed parameter
    slave.reset()
    begin(slave)
    assert slave.getReal([at["chaser.velocity"]]) == [0.05]
    slave.setReal([at["chaser.m"]], [375.0])
    slave.setReal([at["push"]], [37.5])
    slave.doStep(0.0, 1e-3)
    changed = slave.getReal([at["chaser.velocity"]])[0] - 0.05
    resistance = 20.0 * 0.05  # of the sheet's damper; its spring is not yet compressed
    assert changed == pytest.approx((37.5 - resistance) / 375.0 * 1e-3, rel=1e-9)


def test_outputs_follow_inputs_in_initialization_mode(probe, tmp_path, instance):
    connectors = {
        "u": Connector("u", Causality.INPUT, start=2.0),
        "g": Connector("g", Causality.OUTPUT),
    }
    system = System("direct", connectors=connectors).add("a", fmu(probe), gain=3.0, n=0, flag=False)
    system = system.connect("u", "a.u").connect("a.g", "g")
    path = export_system(system, tmp_path / "x.fmu", step="1 ms")
    slave, at = instance(path)
    slave.setupExperiment(startTime=0.0)
    slave.enterInitializationMode()
    found = [slave.getReal([at["g"]])[0]]
    slave.setReal([at["u"]], [5.0])
    found.append(slave.getReal([at["g"]])[0])
    assert found == [6.0, 15.0]
    outputs = fmpy.read_model_description(str(path)).outputs
    assert [(o.variable.name, [d.name for d in o.dependencies]) for o in outputs] == [("g", ["u"])]


def test_a_start_without_a_solution_fails_until_it_has_one(probe, tmp_path, instance):
    """In the ring g_a = 2 (g_b + 1), g_b = k g_a there is none for k = 1/2; g_a = 4 for k = 1/4."""
    held = {"n": 0, "flag": False}
    system = System("ring").add("a", fmu(probe), gain=2.0, **held).add("b", fmu(probe), **held)
    system = system.connect("a.g", "b.u").connect("b.g", "a.u", offset=1.0)
    path = export_system(system, tmp_path / "x.fmu", step="1 ms", algorithm="newton")
    slave, at = instance(path)
    slave.setupExperiment(startTime=0.0)
    slave.enterInitializationMode()
    slave.setReal([at["b.gain"]], [0.5])
    for _ in range(2):
        with pytest.raises(Exception, match="fmi2GetReal failed"):
            slave.getReal([at["a.g"]])
    slave.setReal([at["b.gain"]], [0.25])
    slave.exitInitializationMode()
    assert slave.getReal([at["a.g"]]) == pytest.approx([4.0], rel=1e-9)


def test_a_stop_may_be_the_start_and_not_before(probe, tmp_path, instance):
    system = System("one").add("a", fmu(probe), u=1.0, n=0, flag=False)
    slave, _ = instance(export_system(system, tmp_path / "x.fmu", step="1 ms"))
    with pytest.raises(Exception, match="fmi2SetupExperiment failed"):
        slave.setupExperiment(startTime=2.0, stopTime=1.999)
    slave.setupExperiment(startTime=2.0, stopTime=2.0)


def test_integers_booleans_and_texts_go_through(probe, tmp_path, instance):
    inside = fmu(probe)
    inputs, outputs = ("n", "flag"), ("m", "not_flag", "label_out")
    own = {name: inside.connectors[name] for name in (*inputs, *outputs)}
    own["other"] = replace(own["label_out"], name="other")
    system = System("types", connectors=own).add("a", inside, u=0.0, label="a text")
    system = system.add("b", inside, u=0.0, n=0, flag=False, label="another")
    system = system.connect("b.label_out", "other")
    for name in inputs:
        system = system.connect(name, f"a.{name}")
    for name in outputs:
        system = system.connect(f"a.{name}", name)
    slave, at = instance(export_system(system, tmp_path / "x.fmu", step="1 ms"))
    slave.setupExperiment(startTime=0.0)
    slave.enterInitializationMode()
    slave.setInteger([at["n"]], [5])
    slave.setBoolean([at["flag"]], [True])
    slave.exitInitializationMode()
    slave.doStep(0.0, 1e-3)
    assert slave.getInteger([at["m"]]) == [6]
    assert slave.getBoolean([at["not_flag"]]) == [False]
    assert slave.getString([at["label_out"], at["other"]]) == [b"a text", b"another"]


def test_a_discrete_input_is_an_event_at_the_moment_it_is_set(c_fmu, tmp_path):
    """As an input that is set between the steps of an execution."""
    path = c_fmu("restless3")
    own = {
        "u": Connector("u", Causality.INPUT, DataType.INTEGER, start=0),
        "y": Connector("y", Causality.OUTPUT, DataType.INTEGER),
    }
    system = System("discrete", connectors=own).add("a", fmu(path), more=0)
    system = system.connect("u", "a.u").connect("a.y", "y")
    exported = System("outer").add("it", fmu(export_system(system, tmp_path / "x.fmu", step="1 s")))
    inside = System("inside").add("a", fmu(path), more=0, u=0)
    found = {}
    for whole, name in ((inside, "a"), (exported.set("it.u", 0), "it")):
        with Execution(whole, step="1 s") as run:
            found[name] = []
            for value in (0, 3, 3, 5, 0):
                run.set(f"{name}.u", value)
                run.step()
                found[name].append(run.get(f"{name}.y"))
    assert found["it"] == found["a"]
    assert len(set(found["a"])) > 1


def test_an_output_shows_the_events_at_the_end_of_the_step(c_fmu, tmp_path, instance, begin):
    own = {"count": Connector("count", Causality.OUTPUT, DataType.INTEGER)}
    system = System("counting", connectors=own).add("source", fmu(c_fmu("source3")), period=0.1)
    system = system.connect("source.count", "count")
    slave, at = instance(export_system(system, tmp_path / "x.fmu", step="50 ms"))
    begin(slave)
    found = [slave.getInteger([at["count"], at["source.count"]])]
    for number in range(6):
        slave.doStep(number * 0.05, 0.05)
        found.append(slave.getInteger([at["count"], at["source.count"]]))
    assert found == [[n, n] for n in (1, 1, 2, 2, 3, 3, 4)]


def test_a_parameter_of_the_system_leads_to_those_inside(capture, tmp_path, instance, begin):
    system = capture()
    chaser = system.components["chaser"]
    values = {name: value for name, value in chaser.values.items() if name != "m"}
    system = system.replace(replace(chaser, values=values))
    own = {"tons": Connector("tons", Causality.PARAMETER, unit="t", start=0.5)}
    system = replace(system, connectors=own)
    line = {"factor": 1000.0, "offset": 20.0, "suppress_unit_conversion": True}
    system = system.connect("tons", "chaser.m", **line)
    path = export_system(system, tmp_path / "x.fmu", step="1 ms")
    found = variables(path)
    assert (found["tons"].causality, found["tons"].start) == ("parameter", "0.5")
    assert "chaser.m" not in found
    slave, at = instance(path)
    for tons in (None, 0.9):
        expected = capture().set("chaser.m", 1000.0 * (tons or 0.5) + 20.0)
        with Execution(expected, step="1 ms") as run:
            run.advance("50 ms")
            velocity = run.get("chaser.velocity")
        if tons is not None:
            slave.reset()
            slave.setReal([at["tons"]], [tons])
        begin(slave)
        slave.doStep(0.0, 50e-3)
        assert slave.getReal([at["chaser.velocity"]]) == [velocity]


@pytest.fixture(scope="module")
def spinning(tmp_path_factory):
    """A free body with arrays, and a system that hands a force in and the position out."""
    from orchestrator.export import Recipe, build_recipe

    recipe = replace(Recipe.read(ROOT / "fmus" / "RigidBody.toml"), fmi=("3.0",))
    built = build_recipe(recipe, tmp_path_factory.mktemp("bodies"))
    body = fmu(built.files["3.0"])
    own = {
        "push": replace(body.connectors["force"], name="push", start=(0.0, 0.0, 0.0)),
        "place": replace(body.connectors["r"], name="place"),
    }
    zero = (0.0, 0.0, 0.0)
    return (
        System("spinning", connectors=own)
        .add("body", body, torque=zero, force_body=zero, torque_body=zero, w0=(0.1, 0.2, 0.3))
        .connect("push", "body.force")
        .connect("body.r", "place", delay="2 ms")
    )


@pytest.mark.parametrize("fmi", [2, 3])
def test_arrays_are_arrays_or_their_elements(spinning, tmp_path, fmi):
    path = export_system(spinning, tmp_path / "x.fmu", fmi=fmi, step="1 ms")
    assert validate_fmu(str(path)) == []
    found = variables(path)
    pushes = {"push": (10.0, 0.0, -5.0)}
    if fmi == 2:
        assert found["push[2]"].unit == "N"
        assert found["body.q[4]"].causality == "local"
        assert "body.J[1,1]" not in found  # an array inside keeps its values
        pushes = {f"push[{i + 1}]": value for i, value in enumerate(pushes["push"])}
    else:
        assert found["push"].shape == (3,)
        assert found["body.J"].shape == (3, 3)
    inner = replace(spinning, values={"push": (10.0, 0.0, -5.0)})
    outer = System("outer").add("it", fmu(path), **pushes)
    with Execution(inner, step="1 ms") as run, Execution(outer, step="1 ms") as exported:
        run.advance("98 ms")
        early = run.get("body.r")
        run.advance("100 ms")
        exported.advance("100 ms")
        if fmi == 2:
            place = [exported.get(f"it.place[{i}]") for i in (1, 2, 3)]
            spin = [exported.get(f"it.body.w[{i}]") for i in (1, 2, 3)]
        else:
            place, spin = exported.get("it.place"), exported.get("it.body.w")
        np.testing.assert_array_equal(spin, run.get("body.w"))
        np.testing.assert_array_equal(place, early)
    assert early[0] > 1e-4
