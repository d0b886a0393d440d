"""Exported systems in importers of another code base, where those read the version of FMI."""

import ctypes
from importlib.metadata import files

import fmpy
import numpy as np
import pytest

from orchestrator.export.system import export_system
from orchestrator.study import simulate

SIGNALS = ("chaser.position", "chaser.velocity", "sheet.force_a")
STEPS = 200


def expected(system):
    result = simulate(system, step="1 ms", stop="0.2 s")
    return result.values[1:, [result.names.index(name) for name in SIGNALS]]


def test_libcosim_reads_fmi2(capture, tmp_path):
    reason = "libcosimpy has no wheel for this platform"
    pytest.importorskip("libcosimpy", reason=reason, exc_type=ImportError)
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimObserver import CosimObserver
    from libcosimpy.CosimSlave import CosimLocalSlave

    path = export_system(capture(), tmp_path / "x.fmu", fmi=2, step="1 ms")
    at = {v.name: v.valueReference for v in fmpy.read_model_description(str(path)).modelVariables}
    execution = CosimExecution.from_step_size(step_size=1_000_000)
    index = execution.add_local_slave(CosimLocalSlave(fmu_path=str(path), instance_name="it"))
    observer = CosimObserver.create_last_value()
    assert execution.add_observer(observer=observer)
    found = []
    for _ in range(STEPS):
        assert execution.step()
        found.append(list(observer.last_real_values(index, [at[name] for name in SIGNALS])))
    np.testing.assert_array_equal(found, expected(capture()))


@pytest.mark.parametrize("fmi", [2, 3])
def test_ecos_reads_both(capture, tmp_path, fmi):
    for file in _tbb():
        ctypes.CDLL(str(file.locate()), mode=ctypes.RTLD_GLOBAL)
    ecospy = pytest.importorskip(
        "ecospy", reason="the extra 'peers' is not installed", exc_type=ImportError
    )
    path = export_system(capture(), tmp_path / "x.fmu", fmi=fmi, step="1 ms")
    structure = ecospy.EcosSimulationStructure()
    structure.add_model("it", str(path))
    simulation = ecospy.EcosSimulation(structure=structure, step_size=1e-3)
    assert simulation.init(), ecospy.EcosLib.get_last_error()
    found = []
    for _ in range(STEPS):
        simulation.step(1)
        found.append([simulation.get_real(f"it::{name}") for name in SIGNALS])
    np.testing.assert_array_equal(found, expected(capture()))


def _tbb():
    """The library that ecospy needs and does not find outside of site-packages."""
    try:
        listed = files("tbb") or ()
    except ModuleNotFoundError:
        return []
    return [file for file in listed if file.name == "libtbb.so.12"]
