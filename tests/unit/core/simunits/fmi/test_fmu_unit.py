import logging
import subprocess
import sys
import weakref

import numpy as np
import pytest

from orchestrator.core.diagnostics import CapabilityError, DescriptionError, FmuError, StepError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import Fmu2Unit, fmu, read_fmu
from orchestrator.core.simunits.fmi import fmu_unit
from orchestrator.core.system import System

INPUTS, OUTPUTS = ("u", "n", "flag"), ("y", "g", "m", "no_way_back", "not_flag")


def start(path, **values):
    unit = Fmu2Unit("rig", read_fmu(path))
    unit.set_values(values)
    unit.bind(INPUTS, OUTPUTS)
    unit.setup(0, None)
    unit.exit_initialisation()
    return unit


def outputs(unit):
    values = np.empty(len(OUTPUTS))
    unit.get(values)
    return dict(zip(OUTPUTS, values.tolist(), strict=True))


def test_steps_with_values_of_all_types(probe):
    unit = start(probe, gain=3.0, label="name")
    unit.set(np.array([2.0, 41.0, 1.0]))
    result = unit.do_step(0, 500_000_000)
    assert (result.status, result.last_ns, result.failed) == (0, 500_000_000, False)
    assert outputs(unit) == {"y": 1.0, "g": 6.0, "m": 42.0, "no_way_back": 1.0, "not_flag": 0.0}
    assert unit.native.get_string([1]) == ["name"]
    assert unit.native.get_real([3]) == [3.0]


def test_integer_inputs(probe, wording):
    unit = start(probe)
    for value, expected in ((2.9999999999, 4.0), (-7.0, -6.0), (-(2.0**31), -(2.0**31) + 1)):
        unit.set(np.array([0.0, value, 0.0]))
        assert outputs(unit)["m"] == expected
    for value in (2.0**31, -(2.0**31) - 1, np.nan, np.inf):
        with wording.raises(StepError):
            unit.set(np.array([0.0, value, 0.0]))


def test_integer_parameters_have_32_bits(probe, wording):
    unit = Fmu2Unit("rig", read_fmu(probe))
    with wording.raises(DescriptionError):
        unit.set_values({"n": 2**31})
    unit.set_values({"n": 2**31 - 1})
    assert unit.native.get_integer([0]) == [2**31 - 1]


def test_save_and_restore(probe):
    unit = start(probe)
    unit.set(np.array([1.0, 0.0, 0.0]))
    unit.do_step(0, 10**9)
    saved = unit.get_state()
    unit.do_step(10**9, 10**9)
    first = outputs(unit)
    # A unit is told that somebody may go back (fmi2DoStep, noSetFMUStatePriorToCurrentPoint).
    assert (first["y"], first["no_way_back"]) == (2.0, 0.0)
    unit.set(np.array([9.0, 5.0, 1.0]))
    unit.do_step(2 * 10**9, 10**9)
    unit.set_state(saved)
    assert outputs(unit)["y"] == 1.0
    unit.do_step(10**9, 10**9)
    assert outputs(unit) == first
    del saved
    unit.do_step(2 * 10**9, 10**9)
    assert outputs(unit)["no_way_back"] == 1.0


def test_states_of_others(probe):
    one, two = start(probe), start(probe)
    with pytest.raises(ValueError, match="belongs to another instance"):
        two.set_state(one.get_state())
    with pytest.raises(TypeError, match="expected a saved FMU state, found str"):
        two.set_state("text")


def test_a_state_outlives_its_unit(probe):
    unit = start(probe)
    saved, gone = unit.get_state(), weakref.ref(unit)
    del unit
    assert gone() is None
    del saved  # frees the state, then the native instance that it kept: the sanitizers watch


def test_no_saved_states(make_fmu, wording):
    said = make_fmu(lambda text: text.replace(' canGetAndSetFMUstate="true"', ""))
    with wording.raises(CapabilityError):
        start(said).get_state()
    lied = make_fmu(options=("-DWITHOUT_STATE",))
    with wording.raises(StepError):
        start(lied).get_state()


def test_discard_says_how_far_it_came(probe):
    unit = start(probe, discard_at=1.0)
    assert unit.do_step(0, 10**9).last_ns == 10**9
    result = unit.do_step(10**9, 10**9)
    assert (result.status, result.failed, result.last_ns) == (2, True, 1_500_000_000)


def test_error(probe):
    result = start(probe, error_at=0.0).do_step(0, 10**9)
    assert (result.status, result.last_ns, result.reason) == (3, 0, "asked to fail")


def test_a_message_does_not_outlive_its_call(make_fmu, probe):
    unit = start(probe, discard_at=0.0)
    with pytest.raises(StepError):
        unit.set(np.array([0.0, np.nan, 0.0]))
    assert unit.do_step(0, 10**9).reason == ""  # it discards without a word


def test_after_an_error_it_is_not_terminated(probe, caplog):
    """FMI 2.0 allows fmi2FreeInstance after an error, not fmi2Terminate."""
    with caplog.at_level(logging.INFO, "orchestrator.fmu"):
        good, bad = start(probe), start(probe, error_at=0.0)
        bad.do_step(0, 10**9)
        bad.terminate()
        assert [r.message for r in caplog.records] == ["init: ready", "step: asked to fail"]
        good.terminate()
        assert caplog.records[-1].message == "end: terminated"


def test_after_fatal_nothing_is_called(probe):
    """The probe aborts the process if anything calls it after fmi2Fatal."""
    script = f"""
from pathlib import Path
from orchestrator.core.simunits import Fmu2Unit, read_fmu
unit = Fmu2Unit("rig", read_fmu(Path({str(probe)!r})))
unit.set_values({{"fatal_at": 0.0}})
unit.bind((), ())
unit.setup(0, None)
unit.exit_initialisation()
saved = unit.get_state()
assert unit.do_step(0, 1).status == 4
unit.terminate()
del saved, unit
print("alive")
"""
    done = subprocess.run(  # noqa: S603 - this interpreter, our script
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr


def test_refused_instance(probe, make_fmu, wording):
    path = make_fmu(lambda text: text.replace('guid="{probe}"', 'guid="{other}"'))
    with wording.raises(FmuError):
        Fmu2Unit("rig", read_fmu(path))


def test_refused_initialisation(probe, wording):
    unit = Fmu2Unit("rig", read_fmu(probe))
    unit.set_values({"refuse": True})
    with wording.raises(StepError):
        unit.setup(0, None)


def test_library_that_cannot_be_loaded(make_fmu, monkeypatch, tmp_path, wording):
    path = make_fmu()
    folder = fmu_unit._unpacked(path, path.stat().st_mtime_ns).path
    (folder / "binaries" / "linux64" / "probe.so").write_bytes(b"no library")
    with wording.raises(FmuError):
        Fmu2Unit("rig", read_fmu(path))


def test_function_that_is_missing(make_fmu, wording):
    path = make_fmu(options=("-DfmiX", "-Dfmi2DoStep=hidden_step"))
    with wording.raises(FmuError):
        Fmu2Unit("rig", read_fmu(path))


def test_log(probe, caplog):
    with caplog.at_level(logging.INFO, "orchestrator.fmu"):
        unit = start(probe, mumble=True)
        unit.forward_log()
    found = [(r.name, r.levelname, r.message) for r in caplog.records]
    # Text that is no UTF-8 comes through with marks in the place of what cannot be read.
    assert found == [
        ("orchestrator.fmu.rig", "WARNING", "message: gem\ufffd\ufffd ISO 8859-1"),
        ("orchestrator.fmu.rig", "INFO", "init: ready"),
    ]


def test_instances_are_apart(probe):
    one, two = start(probe), start(probe)
    for unit, force in ((one, 1.0), (two, 5.0)):
        unit.set(np.array([force, 0.0, 0.0]))
        unit.do_step(0, 10**9)
    assert (outputs(one)["y"], outputs(two)["y"]) == (1.0, 5.0)


@pytest.mark.slow
def test_the_unpacked_folder_stays_while_it_is_used(make_fmu):
    unit = start(make_fmu())
    folder = unit._folder.path
    fmu_unit._unpacked.cache_clear()
    assert folder.is_dir()
    del unit
    assert not folder.exists()


def test_strings_travel_apart_from_numbers(probe):
    unit = Fmu2Unit("rig", read_fmu(probe))
    unit.set_values({"label": "k\u00e4se"})
    unit.bind(("u",), ("y", "label_out"))
    unit.setup(0, None)
    unit.exit_initialisation()
    assert ([c.name for c in unit.outputs], unit.get_texts()) == (["y"], ["k\u00e4se".encode()])


def test_an_fmu_that_allows_one_instance_is_refused_twice_in_one_process(make_fmu, wording):
    single = make_fmu(
        lambda text: text.replace(
            "canGetAndSet", 'canBeInstantiatedOnlyOncePerProcess="true" canGetAndSet'
        )
    )
    values = {"u": 0.0, "n": 0, "flag": False}
    system = System("one").add("a", fmu(single), **values)
    Execution(system, step="1 ms").step()
    both = system.add("b", fmu(single), **values)
    for name in "ab":
        both = both.with_options(name, isolation="none")
    with wording.raises(CapabilityError):
        Execution(both, step="1 ms")
