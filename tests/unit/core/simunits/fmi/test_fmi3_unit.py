"""FMI 3.0 Co-Simulation with every type; see tests/fixtures/c_fmus/every3.c."""

from pathlib import Path

import numpy as np
import pytest

from orchestrator import simulate
from orchestrator.core.diagnostics import DescriptionError, FmuError, StepError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import Fmu3Unit, fmu, make_unit, read_fmu
from orchestrator.core.system import Causality, DataType, System
from orchestrator.export import build_recipe

SECOND = 10**9
#: Greatest values that travel, by input; the lowest are minus that, or minus one more, or zero.
LIMITS = {
    "int8": (-(2**7), 2**7 - 1),
    "uint8": (0, 2**8 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "uint16": (0, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-(2**53), 2**53),
    "uint64": (0, 2**53),
}


@pytest.fixture(scope="module")
def every(c_fmu):
    return c_fmu("every3")


def start(path, inputs=(), outputs=(), **values):
    unit = Fmu3Unit("rig", read_fmu(path))
    unit.set_values(values)
    unit.bind(inputs, outputs)
    unit.setup(0, None)
    unit.exit_initialisation()
    return unit


def outputs(unit):
    values = np.empty(sum(connector.size for connector in unit.outputs))
    unit.get(values)
    return values.tolist()


def test_description(every):
    found = read_fmu(every)
    assert (found.version, found.interface) == (3, "CoSimulation")
    assert found.library == "binaries/x86_64-linux/every3.so"
    description = found.description
    connectors = description.connectors
    kinds = {name: connectors[name].type for name in ("u", "float32", "int8", "color", "label")}
    assert list(kinds.values()) == [
        DataType.REAL, DataType.REAL, DataType.INTEGER, DataType.INTEGER, DataType.STRING,
    ]  # fmt: skip
    assert connectors["blob"].type is DataType.BINARY
    assert connectors["blob"].start == b"\x00\xff"
    assert (connectors["u"].unit, connectors["u"].description) == ("N", "Force")
    assert (connectors["x"].shape, connectors["x"].start) == ((2,), (0.0, 0.0))
    assert (connectors["n"].causality, connectors["n"].start) == (Causality.PARAMETER, 2)
    assert found.variables["color"].type == "Int64"
    assert found.variables["n"].is_structural
    # An alias is an output of its own, with the dependencies of its variable.
    assert description.feedthrough["integral"] == description.feedthrough["y"] == ()
    assert description.feedthrough["sum"] == ("x",)
    can = description.capabilities
    assert can.can_roll_back
    assert can.can_serialize
    assert can.has_directional_derivatives
    assert not can.has_event_mode
    assert can.input_order == 0  # FMI 3.0 has no such call


@pytest.mark.parametrize("name", LIMITS)
def test_integers_of_every_width(every, name, wording):
    unit = start(every, [name], [f"{name}_out"])
    least, most = LIMITS[name]
    shown = 1 if name == "int64" else 0  # its output is one more than the input
    for value in (least, most - shown, 1.0 - 2**-52):  # the last is rounded to 1
        unit.set(np.array([float(value)]))
        assert outputs(unit) == [round(value) + shown]
    for value in (least - 2.0, most + 2.0, np.nan, np.inf):
        with wording.raises(StepError):
            unit.set(np.array([value]))


def test_outputs_beyond_doubles_name_their_connector(every, wording):
    unit = start(every, ["int64"], ["int64_out"])
    unit.set(np.array([2.0**53]))
    # 2**53 + 1 becomes 2**53 or 2**53 + 2 as a double: nobody could tell.
    with wording.raises(StepError):
        outputs(unit)


def test_other_scalars(every, wording):
    names = ("u", "float32", "color", "boolean")
    unit = start(every, names, ("y", "float32_out", "color_out", "boolean_out"))
    unit.set(np.array([2.0, 0.1, 7.0, 1.0]))
    assert unit.do_step(0, SECOND // 2).last_ns == SECOND // 2
    assert outputs(unit) == [1.0, float(np.float32(0.1)), 7.0, 1.0]
    assert unit.value("integral") == 1.0
    with wording.raises(StepError):
        unit.set(np.array([2.0, 1e300, 7.0, 1.0]))


def test_arrays_with_a_structural_extent(every, wording):
    unit = start(every, ["x"], ["sum", "x_out"], n=3, x=(1.0, 2.0, 3.0))
    assert outputs(unit) == [6.0, 1.0, 2.0, 3.0]
    unit.set(np.array([10.0, 20.0, 30.0]))
    assert outputs(unit) == [60.0, 10.0, 20.0, 30.0]
    assert unit.value("x").tolist() == [10.0, 20.0, 30.0]
    with wording.raises(StepError):
        start(every, n=9)
    with wording.raises(DescriptionError):
        start(every, n=-1)


def test_only_structural_parameters_that_are_extents_are_whole_numbers(c_fmu, wording):
    def structural(text):
        was = '<UInt32 name="fail" valueReference="16" causality="parameter"'
        assert text.count(was) == 1
        return text.replace(
            was, was.replace("UInt32", "Float64").replace("parameter", "structuralParameter")
        )

    description = read_fmu(c_fmu("every3", structural))
    assert description.variables["fail"].is_structural
    assert description.shaped({"fail": 2.5, "n": 3}).description.connectors["x"].shape == (3,)
    with wording.raises(DescriptionError):
        description.shaped({"n": 2.5})


EXTENT = '<UInt64 name="n" valueReference="15" causality="structuralParameter" variability="fixed"'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (f'{EXTENT} start="2"', f'{EXTENT} start="-1"'),
        (f'{EXTENT} start="2"', EXTENT),
        ('<UInt64 name="n"', '<Float64 name="n"'),
        ('<Dimension valueReference="15"/>', '<Dimension valueReference="77"/>'),
        ('<Dimension valueReference="15"/>', '<Dimension valueReference="16"/>'),
        ('<Dimension valueReference="15"/>', "<Dimension/>"),
        ('<Float64 name="u"', '<Float64 name=""'),
    ],
)
def test_what_no_run_can_use_is_refused_when_it_is_read(c_fmu, old, new, wording):
    """So it is by runs, `softdock check` and `softdock fmu check` alike."""
    with wording.raises(FmuError):
        read_fmu(c_fmu("every3", lambda text: text.replace(old, new)))


def test_arrays_in_a_system(every, wording):
    values = {c.name: c.start for c in fmu(every).of(Causality.INPUT) if c.name != "x"}
    system = (
        System("arrays")
        .add("a", fmu(every), n=3, x=(1.0, 2.0, 3.0), **values)
        .add("b", fmu(every), n=3, **values)
        .connect("a.x_out", "b.x")
    )
    with Execution(system, step="1 s") as run:
        run.step()
        assert run.get("b.sum") == 6.0
        assert run.get("b.x").tolist() == [1.0, 2.0, 3.0]
    with wording.raises(
        DescriptionError, code="CON105", place="connection a.x_out -> b.x", key="a.x_out -> b.x"
    ):
        Execution(system.set("b.n", 2), step="1 s")


def test_parameters_of_every_width(every, wording):
    unit = Fmu3Unit("rig", read_fmu(every))
    unit.set_values({"uint64": 2**64 - 1, "label": "k\u00e4se", "blob": b"\x00\x01"})
    assert unit._value(unit.description.connectors["uint64"]) == 2**64 - 1
    assert unit._value(unit.description.connectors["label_out"]) == "k\u00e4se"
    assert unit._value(unit.description.connectors["blob_out"]) == b"\x00\x01"
    with wording.raises(DescriptionError):
        unit.set_values({"int8": 128})


def test_save_and_restore(every):
    unit = start(every, ["u"], ["y"])
    unit.set(np.array([1.0]))
    unit.do_step(0, SECOND)
    saved = unit.get_state()
    unit.do_step(SECOND, SECOND)
    assert outputs(unit) == [2.0]
    unit.set_state(saved)
    assert outputs(unit) == [1.0]
    other = start(every, ["u"], ["y"])
    other.set_state(other.deserialize(unit.serialize(saved)))
    assert outputs(other) == [1.0]
    assert unit.native.save(0) == 0
    unit.do_step(SECOND, SECOND)
    assert unit.native.restore(0) == 0
    assert outputs(unit) == [1.0]


def test_directional_derivative(every):
    unit = start(every, ["u", "x"], ["y", "sum"], n=3)
    change = np.empty(2)
    assert unit.native.derivative(np.array([5.0, 1.0, 2.0, 4.0]), change) == 0
    assert change.tolist() == [0.0, 7.0]


@pytest.mark.parametrize(
    "fail",
    [
        1,
        2,
        3,
        4,
        5,
        6,
        7,
        8,
    ],
)
def test_failures(every, fail, wording):
    system = _two(every, fail)
    with wording.raises(StepError) as caught:
        Execution(system, step="1 s").step()
    assert "'bad'" in str(caught.value)


@pytest.mark.parametrize("isolation", ["none", "process"])
@pytest.mark.parametrize("algorithm", ["gauss-seidel", "jacobi", "step-doubling"])
def test_the_step_that_a_unit_ends_the_run_with_is_kept(every, algorithm, isolation):
    system = _two(every, 8).with_options("bad", isolation=isolation)
    result = simulate(system, step="1 s", stop="5 s", algorithm=algorithm)
    assert result.time[-1] == 1.0
    assert result["good.y"][-1] == 1.0
    assert "component 'bad' ended the run at t = 1 s" in result.notes[0]
    assert "left out" not in result.notes[0]


def _two(every, fail):
    values = {c.name: c.start for c in fmu(every).of(Causality.INPUT)}
    del values["u"]
    return (
        System("failing")
        .add("good", fmu(every), u=1.0, **values)
        .add("bad", fmu(every), fail=fail, **values)
        .connect("good.y", "bad.u")
    )


def test_discarded_step_says_how_far_it_came(every):
    unit = start(every, fail=6)
    result = unit.do_step(0, SECOND)
    assert (result.status, result.last_ns) == (2, SECOND // 4)


def test_no_instance(c_fmu, wording):
    other = c_fmu("every3", lambda text: text.replace('"{every3}"', '"other"'))
    with wording.raises(FmuError):
        make_unit(fmu(other))


def test_function_that_is_missing(c_fmu, wording):
    path = c_fmu("every3", options=("-Dfmi3DoStep=hidden",))
    with wording.raises(FmuError):
        make_unit(fmu(path))


def test_messages_that_are_dropped_are_counted(every):
    unit = start(every, fail=3)
    for _ in range(10_003):
        with pytest.raises(RuntimeError, match="refused to tell Float32"):
            unit.native.get("Float32", 1)
    messages = unit.native.take_log()
    assert len(messages) == 10_001
    assert messages[-1][:2] == (1, "log")
    assert messages[-1][2].startswith("3 further messages were dropped; at most 10000 are kept")
    assert unit.native.take_log() == []


@pytest.mark.parametrize("name", ["BouncingBall", "TwoLinkArm"])
def test_exported_fmus_give_the_same_bits_by_both_versions(name, tmp_path):
    """One has events, which FMI 3.0 leaves to the importer; the other has arrays."""
    recipe = Path(__file__).parents[5] / "fmus" / f"{name}.toml"
    build_recipe(recipe, tmp_path, fmi=("2.0", "3.0"))
    recordings = []
    for file in (f"{name}.fmu", f"{name}.fmi3.fmu"):
        component = fmu(tmp_path / file)
        held = {c.name: c.start for c in component.of(Causality.INPUT)}
        held = {k: v if v is not None else 0.0 for k, v in held.items()}
        with Execution(System("s").add("a", component, **held), step="1 ms") as run:
            run.advance("2 s")
            recordings.append(run.recording())
    old, new = recordings
    assert np.array_equal(old.values, new.values)
    assert np.ptp(old.values[:, 0]) > 0.1  # it moves
