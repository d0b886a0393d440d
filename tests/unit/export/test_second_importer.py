"""Every FMU of the project in FMPy and in libcosim, an importer with another code base."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmpy import read_model_description

libcosimpy = pytest.importorskip(
    "libcosimpy", reason="libcosimpy has no wheel for this platform", exc_type=ImportError
)

ROOT = Path(__file__).parents[3]
STEP = 1 / 64  # a whole number of nanoseconds and a binary fraction: both see the same times
COUNT = 64
#: Neither moved nor fed as they are by default: their outputs are constant.
STILL = {"DragScrew"}
#: Torn by ends that are anywhere: their inputs keep their starts.
AS_IT_IS = {"PlanarRope", "SpatialRope"}
#: Torn unless it is told where its nodes begin.
LED = {"SnareRope", "FloatingSnareRope"}
#: Steps of its own, which an input that is set anew begins again: equal to the solver's tolerance.
TOLERANCES = {"MotorBench": 1e-6, "ServoArm": 1e-6}
NAMES = sorted({path.stem for path in (ROOT / "fmus").glob("*.toml")} - LED)


def ports(fmu: Path, causality: str) -> list[Any]:
    variables = read_model_description(str(fmu)).modelVariables
    return [v for v in variables if v.causality == causality and v.type == "Real"]


def in_libcosim(fmu: Path, inputs: list[float]) -> list[list[float]]:
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimManipulator import CosimManipulator
    from libcosimpy.CosimObserver import CosimObserver
    from libcosimpy.CosimSlave import CosimLocalSlave

    execution = CosimExecution.from_step_size(step_size=round(STEP * 1e9))
    index = execution.add_local_slave(CosimLocalSlave(fmu_path=str(fmu), instance_name="unit"))
    observer, manipulator = CosimObserver.create_last_value(), CosimManipulator.create_override()
    assert execution.add_observer(observer=observer)
    assert execution.add_manipulator(manipulator=manipulator)
    references = [v.valueReference for v in ports(fmu, "input")]
    if references:
        assert manipulator.slave_real_values(index, references, inputs)
    outputs = [v.valueReference for v in ports(fmu, "output")]
    rows = []
    for _ in range(COUNT):
        assert execution.step()
        rows.append(list(observer.last_real_values(index, outputs)))
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_same_results_as_in_fmpy(
    name: str, shipped_fmus: dict[str, Path], open_fmu: Callable[..., Any]
) -> None:
    fmu = shipped_fmus[name]
    # Both hold the inputs: the same solver does the same steps, so rounding alone may differ.
    inputs = [0.1 + 0.037 * index for index in range(len(ports(fmu, "input")))]
    if name in AS_IT_IS:
        inputs = [float(variable.start) for variable in ports(fmu, "input")]
    slave = open_fmu(fmu)
    slave.initialize()
    slave.set(**dict(zip((v.name for v in ports(fmu, "input")), inputs, strict=True)))
    rows = []
    for _ in range(COUNT):
        slave.step(STEP)
        rows.append(slave.get(*(v.name for v in ports(fmu, "output"))))
    found = in_libcosim(fmu, inputs)
    assert np.all(np.isfinite(rows))
    still = not inputs and float(np.ptp(rows, axis=0).max()) == 0.0
    assert still is (name in STILL)
    if name in TOLERANCES:
        off = np.abs(np.subtract(found, rows))
        assert np.all(off <= TOLERANCES[name] * np.abs(rows).max(axis=0))
    else:
        np.testing.assert_allclose(found, rows, rtol=1e-13, atol=1e-300)
