"""The table ``[realtime]`` of an experiment file: how its cases are kept to real time."""

from __future__ import annotations

from typing import Self

from pydantic import Field, StrictBool, StrictFloat, StrictInt, StrictStr, model_validator
from pydantic_core import PydanticCustomError

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.realtime import RealTime
from orchestrator.study.file.table import Table, Time


class RealTimeTable(Table):
    """How cases are kept to real time; see :class:`~orchestrator.RealTime`."""

    factor: StrictInt | StrictFloat = 1.0
    clock: StrictStr | None = None
    policy: StrictStr = "catch_up"
    overruns: StrictInt = 1
    budget: Time | None = None
    budgets: dict[str, Time] = Field({})
    priority: StrictInt = 80
    cpus: tuple[StrictInt, ...] = ()
    lock_memory: StrictBool = True
    collect_garbage: StrictBool = False

    @model_validator(mode="after")
    def _complete(self) -> Self:
        try:
            self.settings()
        except DescriptionError as error:
            raise PydanticCustomError("realtime", "{text}", {"text": str(error)}) from error
        return self

    def settings(self, factor: float | None = None) -> RealTime:
        """Return the settings, with another factor if one is given."""
        given = dict(self)
        return RealTime(**given if factor is None else {**given, "factor": factor})
