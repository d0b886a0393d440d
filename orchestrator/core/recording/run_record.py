"""What files of results tell of their runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NotRequired

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from orchestrator.core.coupling import FaultRecord, Mark, Tuned
from orchestrator.core.plain_data import misfit
from orchestrator.core.recording.result import TIME, Result
from orchestrator.core.simunits import Notice


class RunRecord(TypedDict):
    """What is read back of a result's origin."""

    case: str
    step_ns: int
    algorithm: str
    delay_mode: str
    faults: tuple[FaultRecord, ...]
    notices: NotRequired[tuple[Notice, ...]]
    tuned: NotRequired[tuple[Tuned, ...]]
    marks: NotRequired[tuple[Mark, ...]]


def result_of(
    about: Mapping[str, Any],
    units: Mapping[str, str],
    times: NDArray[np.float64],
    names: Sequence[str],
    values: NDArray[np.float64],
) -> Result:
    """Make a result of what a file holds.

    Raises
    ------
    ValueError
        If its metadata or its times, in s, are none of a result.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        run = TypeAdapter(RunRecord).validate_json(json.dumps(about), strict=True)
    except ValidationError as error:
        raise ValueError(f"its metadata: {misfit(error)}") from error
    if not (np.abs(times) < 2.0**63 / 1e9).all() or not (np.diff(times) > 0).all():
        raise ValueError(f"'{TIME}': expected increasing times within 64 bits of nanoseconds")
    return Result(
        name=run["case"],
        time_ns=np.rint(times * 1e9).astype(np.int64),
        names=tuple(names),
        values=values,
        units=dict(units),
        step_ns=run["step_ns"],
        algorithm=run["algorithm"],
        delay_mode=run["delay_mode"],
        faults=run["faults"],
        notices=run.get("notices", ()),
        tuned=run.get("tuned", ()),
        marks=run.get("marks", ()),
    )
