"""Exported blocks in importers of another code base, FMI 2.0, with held inputs."""

import ctypes
from importlib.metadata import files

import numpy as np
import pytest
from fixtures.blockfmu.playing import in_process
from fmpy import read_model_description

STEP = 1 / 64  # a whole number of nanoseconds and a binary fraction: all see the same times
COUNT = 64


def expected(kind):
    inputs = {c.name: 0.3 for c in kind.connectors.values() if c.causality == "input"}
    return inputs, in_process(kind, [inputs] * COUNT, [STEP] * COUNT, start=0.0)[1:]


@pytest.mark.parametrize("python", [False, True])
def test_libcosim(python, samples, built):
    reason = "libcosimpy has no wheel for this platform"
    pytest.importorskip("libcosimpy", reason=reason, exc_type=ImportError)
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimManipulator import CosimManipulator
    from libcosimpy.CosimObserver import CosimObserver
    from libcosimpy.CosimSlave import CosimLocalSlave

    file = built(samples.LowPass, "2.0", python=python)
    inputs, rows = expected(samples.LowPass)
    references = {
        v.name: v.valueReference for v in read_model_description(str(file)).modelVariables
    }
    execution = CosimExecution.from_step_size(step_size=round(STEP * 1e9))
    index = execution.add_local_slave(CosimLocalSlave(fmu_path=str(file), instance_name="unit"))
    observer, manipulator = CosimObserver.create_last_value(), CosimManipulator.create_override()
    assert execution.add_observer(observer=observer)
    assert execution.add_manipulator(manipulator=manipulator)
    assert manipulator.slave_real_values(index, [references["force"]], [inputs["force"]])
    found = []
    for _ in range(COUNT):
        assert execution.step()
        found.append(list(observer.last_real_values(index, [references["measured"]])))
    np.testing.assert_array_equal(found, rows)


@pytest.mark.parametrize("python", [False, True])
def test_ecos(python, samples, built):
    for file in _tbb():
        ctypes.CDLL(str(file.locate()), mode=ctypes.RTLD_GLOBAL)
    ecospy = pytest.importorskip(
        "ecospy", reason="the extra 'peers' is not installed", exc_type=ImportError
    )
    file = built(samples.LowPass, "2.0", python=python)
    inputs, rows = expected(samples.LowPass)
    structure = ecospy.EcosSimulationStructure()
    structure.add_model("unit", str(file))
    structure.add_parameter_set("start", {"unit::force": inputs["force"]})
    simulation = ecospy.EcosSimulation(structure=structure, step_size=STEP)
    assert simulation.init(parameter_set="start"), ecospy.EcosLib.get_last_error()
    found = []
    for _ in range(COUNT):
        simulation.step(1)
        found.append([simulation.get_real("unit::measured")])
    np.testing.assert_array_equal(found, rows)


def _tbb():
    """The library that ecospy needs and does not find outside of site-packages."""
    try:
        listed = files("tbb") or ()
    except ModuleNotFoundError:
        return []
    return [file for file in listed if file.name == "libtbb.so.12"]
