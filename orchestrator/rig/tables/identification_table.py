"""The table ``[identification]``: how commanded devices are identified before they are armed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, StrictStr, model_validator
from pydantic_core import PydanticCustomError

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.system import nanoseconds, seconds
from orchestrator.study.file.table import Table, Time

if TYPE_CHECKING:
    from orchestrator.rig.identification.excitation import Limits

Kind = Literal["prbs", "chirp", "step"]
Positive = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]


class IdentificationTable(Table):
    """How the commanded devices of each case are excited, as ``softdock identify`` does it.

    ``devices`` are those that are identified, all if there are none. ``limits`` are of commands, by
    ``component.connector``: amplitude, and speed and acceleration if they are bounded. ``twins``
    are files by component, for runs that do not identify.
    """

    devices: tuple[StrictStr, ...] = ()
    twins: dict[str, StrictStr] = Field({})
    excitation: Kind = "prbs"
    compared: Kind = "step"
    duration: Time = "4 s"
    compared_duration: Time = "2 s"
    rest: Time = "0.5 s"
    confidence: Annotated[float, Field(ge=0.5, lt=1.0)] = 0.95
    limits: dict[str, Annotated[tuple[Positive, ...], Field(min_length=1, max_length=3)]] = Field(
        {}
    )

    @model_validator(mode="after")
    def _durations(self) -> Self:
        for name in ("duration", "compared_duration", "rest"):
            try:
                found = nanoseconds(getattr(self, name), f"identification.{name}")
            except DescriptionError as error:
                told = {"text": str(error)}
                raise PydanticCustomError("identification", "{text}", told) from error
            if found <= 0:
                raise PydanticCustomError("identification", f"{name}: expected a time > 0 s")
        return self

    def seconds(self, name: Literal["duration", "compared_duration", "rest"]) -> float:
        """Return one of the times."""
        return seconds(nanoseconds(getattr(self, name), name))

    def command_limits(self) -> dict[str, Limits]:
        """Return the limits of commands."""
        from orchestrator.rig.identification.excitation import Limits

        return {name: Limits(*numbers) for name, numbers in self.limits.items()}
