"""What tables of a supervisor's settings have in common."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr
from pydantic_core import PydanticCustomError

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.system import nanoseconds

Time = StrictStr | StrictInt | StrictFloat
Positive = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class Table(BaseModel):
    """A table of settings, without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def ns(self, key: str) -> int:
        """Return a time of the table in nanoseconds."""
        return nanoseconds(getattr(self, key), f"supervisor.{key}")

    def expect_times(self, *keys: str, least_ns: int = 1) -> None:
        """Expect that what is given of some times can be read, and is not shorter."""
        for key in keys:
            if getattr(self, key) is None:
                continue
            try:
                found = self.ns(key)
            except DescriptionError as error:
                raise PydanticCustomError("time", "{text}", {"text": str(error)}) from error
            if found < least_ns:
                told = {
                    "key": key,
                    "least": f"{least_ns * 1e-9:g}",
                    "found": str(getattr(self, key)),
                }
                raise PydanticCustomError(
                    "time", "{key}: expected >= {least} s, found {found}", told
                )
