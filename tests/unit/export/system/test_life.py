"""The life of an exported system with an FMU that has every type of FMI 3.0 and ends on demand."""

import math
from dataclasses import replace

import fmpy
import numpy as np
import pytest

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import fmu
from orchestrator.core.system import Causality, DataType, System
from orchestrator.export.system import export_system


@pytest.fixture(scope="module")
def every(c_fmu):
    """A component with all types of FMI 3.0, its inputs held at their start values."""
    component = fmu(c_fmu("every3"))
    values = {
        c.name: c.start for c in component.of(Causality.INPUT) if c.type is not DataType.CLOCK
    }
    return component, values


@pytest.mark.parametrize("fmi", [2, 3])
def test_all_types_inside(every, compare, fmi):
    component, values = every
    wide = 2**40 if fmi == 3 else 2**20  # Integers of FMI 2.0 have 32 bits
    given = {**values, "u": 2.0, "int8": -5, "uint64": wide, "boolean": True, "color": 7}
    fed = {"u": "y", "uint64": "uint64_out", "int8": "int8_out", "boolean": "boolean_out"}
    kept = {name: value for name, value in given.items() if name not in fed}
    system = System("types").add("a", component, **given).add("b", component, **kept)
    for target, source in fed.items():
        system = system.connect(f"a.{source}", f"b.{target}")
    scalars = [
        f"{name}.{c.name}"
        for name in "ab"
        for c in component.of(Causality.OUTPUT)
        if not (c.shape or c.type.is_text or c.type is DataType.CLOCK)
    ]
    found = compare(system, fmi=fmi, step="1 s", stop=5.0, record=scalars)
    assert (found.difference, found.rows) == (0.0, 6)
    assert found.largest == wide


def test_the_end_that_a_component_asks_for(every, tmp_path, instance, begin):
    component, values = every
    system = System("ending").add("a", component, fail=8, **values)
    slave, at = instance(export_system(system, tmp_path / "three.fmu", fmi=3, step="1 s"), "three")
    begin(slave)
    event, ended, early, reached = slave.doStep(0.0, 3.0)
    assert (event, ended, early, reached) == (False, True, False, 1.0)  # that step was done
    log = []
    path = export_system(system, tmp_path / "two.fmu", fmi=2, step="1 s")
    slave, at = instance(path, "two", log)
    begin(slave)
    with pytest.raises(Exception, match="fmi2DoStep failed with status 2"):  # discarded
        slave.doStep(0.0, 3.0)
    assert slave.getBooleanStatus(3)  # fmi2Terminated
    assert np.isfinite(slave.getReal([at["a.y"]])).all()


@pytest.mark.parametrize(
    ("fail", "message"),
    [
        (1, "component 'a' failed while entering initialisation: refused to initialise"),
        (4, "component 'a' failed: refused to step"),
        (5, "component 'a' failed: "),
    ],
)
def test_failures_inside_say_who_and_why(every, tmp_path, instance, begin, fail, message):
    component, values = every
    system = System("failing").add("a", component, fail=fail, **values)
    log = []
    path = export_system(system, tmp_path / "x.fmu", fmi=3, step="1 s")
    slave, _ = instance(path, log=log)

    def live():
        begin(slave)
        slave.doStep(0.0, 1.0)

    with pytest.raises(Exception, match="failed with status 3"):
        live()
    assert message in " ".join(str(part) for entry in log for part in entry)
    with pytest.raises(Exception, match="failed with status 3"):
        slave.doStep(1.0, 1.0)
    if fail != 5:  # after a fatal error no function of the FMU inside may be called
        slave.reset()
    with pytest.raises(Exception, match="failed with status 3"):
        live()


def test_outside_and_inside_agree_on_the_start_time(every, tmp_path, instance, begin):
    component, values = every
    system = System("late").add("a", component, **values)
    with Execution(system, step="1 s", start=2.5) as run:
        run.advance("5.5 s")
        expected = run.get("a.y")
    slave, at = instance(export_system(system, tmp_path / "x.fmu", step="1 s"))
    begin(slave, 2.5)
    slave.doStep(2.5, 3.0)
    assert slave.getReal([at["a.y"]]) == [expected]


def test_what_fmi2_does_not_have_is_left_out_inside_and_refused_outside(every, tmp_path):
    component, values = every
    system = System("wide").add("a", component, **{**values, "uint64": 2**40})
    path = export_system(system, tmp_path / "x.fmu", fmi=2, step="1 s")
    found = {v.name for v in fmpy.read_model_description(str(path)).modelVariables}
    assert "a.int64" in found
    assert not found & {"a.uint64", "a.blob", "a.blob_out", "a.x"}
    kept = {name: value for name, value in values.items() if name not in ("blob", "x")}
    own = {name: component.connectors[name] for name in ("blob", "x")}
    system = System("open", connectors=own).add("a", component, **kept)
    system = system.connect("blob", "a.blob").connect("x", "a.x")
    with pytest.raises(DescriptionError) as caught:
        export_system(system, tmp_path / "y.fmu", fmi=2, step="1 s")
    assert str(caught.value) == (
        "'blob': FMI 2.0 has no Binary variables; export for FMI 3 (--fmi 3)"
    )
    assert export_system(system, tmp_path / "y.fmu", fmi=3, step="1 s").is_file()


@pytest.mark.parametrize("fmi", [2, 3])
def test_times_far_from_zero_are_those_that_a_double_can_have(
    every, tmp_path, instance, begin, fmi
):
    """At 1e8 s doubles are 15 ns apart: a master that adds up its steps is off by that."""
    component, values = every
    system = System("late").add("a", component, **values)
    path = export_system(system, tmp_path / "late.fmu", fmi=fmi, step="0.1 s")
    slave, _ = instance(path)
    time = 1e8
    begin(slave, time)
    for _ in range(3):
        slave.doStep(time, 0.1)
        time += 0.1
    with pytest.raises(Exception, match="DoStep failed"):
        slave.doStep(time + 1e-6, 0.1)


def test_its_folder_may_have_a_name_with_spaces_and_letters(every, tmp_path, instance, begin):
    """FMI 2.0 passes the folder as a URI, in which these are coded."""
    component, values = every
    system = System("placed").add("a", component, **{**values, "u": 2.0})
    path = export_system(system, tmp_path / "x.fmu", fmi=2, step="1 s")
    slave, at = instance(path, "an \u00f6 and 50% more")
    begin(slave)
    slave.doStep(0.0, 3.0)
    assert slave.getReal([at["a.y"]]) == [6.0]


def test_every_element_of_an_array_has_to_be_finite_at_the_start(every, tmp_path, instance):
    component, values = every
    own = {"x": replace(component.connectors["x"], name="x", start=(0.0, 0.0))}
    held = {name: value for name, value in values.items() if name != "x"}
    system = System("arrays", connectors=own).add("a", component, **held).connect("x", "a.x")
    log = []
    slave, at = instance(export_system(system, tmp_path / "x.fmu", fmi=3, step="1 s"), "three", log)
    slave.enterInitializationMode()
    slave.setFloat64([at["x"]], [0.0, math.nan])
    with pytest.raises(Exception, match="failed with status 3"):
        slave.exitInitializationMode()
    assert "'x' is not finite (NaN or infinite) at the start" in str(log)
