"""Where an input of a simulated component is led when a device of its case is lost."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, StrictStr, model_validator
from pydantic_core import PydanticCustomError

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.system import nanoseconds
from orchestrator.study.file.table import Table, Time


class RestTable(Table):
    """The value of an input at rest, and how it goes there.

    From the step on in which the output ``valid`` of ``device`` is 0, having been 1, the input goes
    from what it was to ``value``, in its unit, evenly within the time ``within``, and stays there.
    Without ``device`` it is the only one of the case.
    """

    value: Annotated[float, Field(allow_inf_nan=False)] = 0.0
    within: Time = "100 ms"
    device: StrictStr | None = None

    @property
    def seconds(self) -> float:
        """The time ``within``, s."""
        return nanoseconds(self.within, "rest.within") * 1e-9

    @model_validator(mode="after")
    def _positive(self) -> Self:
        try:
            found = self.seconds
        except DescriptionError as error:
            raise PydanticCustomError("time", "{text}", {"text": str(error)}) from error
        if not found > 0.0:
            raise PydanticCustomError("time", "within: expected a time > 0")
        return self
