"""A model of the corpus in libcosim, an importer with another code base than FMPy's."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fmpy import read_model_description

_STEPS = 10


def in_libcosim(
    fmu: Path, names: Iterable[str], start: dict[str, float], stop: float
) -> dict[str, float]:
    """Values at the end of a co-simulation of ten steps; enumerations are left out, it has none."""
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimObserver import CosimObserver
    from libcosimpy.CosimSlave import CosimLocalSlave

    variables = {v.name: v for v in read_model_description(str(fmu)).modelVariables}
    if any(variables[name].type == "Enumeration" for name in start):
        return {}
    names = [name for name in names if variables[name].type != "Enumeration"]
    execution = CosimExecution.from_step_size(step_size=round(stop / _STEPS * 1e9))
    index = execution.add_local_slave(CosimLocalSlave(fmu_path=str(fmu), instance_name="unit"))
    observer = CosimObserver.create_last_value()
    assert execution.add_observer(observer=observer)
    for name, value in start.items():
        kind, reference = _kind(variables[name]), variables[name].valueReference
        number = bool(value) if kind == "boolean" else int(value) if kind == "integer" else value
        assert getattr(execution, f"{kind}_initial_value")(index, reference, number)
    for _ in range(_STEPS):
        assert execution.step()
    return {
        name: float(
            getattr(observer, f"last_{_kind(variables[name])}_values")(
                index, [variables[name].valueReference]
            )[0]
        )
        for name in names
    }


def _kind(variable: Any) -> str:
    return {"Real": "real", "Boolean": "boolean"}.get(variable.type, "integer")
