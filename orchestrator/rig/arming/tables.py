"""The tables ``[arming]`` and ``[identification]`` of an experiment."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import (
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
)
from pydantic_core import PydanticCustomError

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.diagnostics.validation import Table, Time
from orchestrator.core.system import nanoseconds, seconds
from orchestrator.rig.arming.margins import Reserve


class ArmingTable(Table):
    """What must be left of the margins, and how the loop is linearised for them.

    Modes that grow no faster than ``own_growth``, 1/s, are the plant's own. An identified gain that
    is more than ``gain_within`` times the model's, or less than its part, is refused: margins with
    another gain hold, but units that are mistaken are off by more.
    ``set`` and ``delays`` are values and delays of the model, such as the stiffness of the contact
    and what lies between two devices, ``at`` is the time of the point, ``models`` stand in the
    place of devices that the system has no models of. ``stiffness`` and ``damping`` name parameters
    that could be turned, for what is said of a refusal. ``force`` is why the devices may move all
    the same.
    """

    delay_reserve: Time = "2 ms"
    gain_reserve: Annotated[float, Field(gt=1.0, allow_inf_nan=False)] = 1.2
    own_growth: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] = 0.0
    gain_within: Annotated[float, Field(gt=1.0, allow_inf_nan=False)] = 3.0
    at: Time | None = None
    set: dict[str, StrictBool | StrictInt | StrictFloat | StrictStr] = Field({})
    delays: dict[str, Time] = Field({})
    models: dict[str, StrictStr] = Field({})
    stiffness: StrictStr | None = None
    damping: StrictStr | None = None
    force: Annotated[StrictStr, Field(min_length=10)] | None = None

    @model_validator(mode="after")
    def _positive(self) -> Self:
        try:
            delay_ns = nanoseconds(self.delay_reserve, "arming.delay_reserve")
        except DescriptionError as error:
            raise PydanticCustomError("arming", "{text}", {"text": str(error)}) from error
        if delay_ns <= 0:
            reserve = self.delay_reserve
            raise PydanticCustomError("arming", f"delay_reserve: expected > 0 s, found {reserve!r}")
        return self

    @property
    def reserve(self) -> Reserve:
        """The margins that must be left."""
        delay = nanoseconds(self.delay_reserve, "arming") * 1e-9
        return Reserve(delay, self.gain_reserve, self.own_growth)


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
                duration_ns = nanoseconds(getattr(self, name), f"identification.{name}")
            except DescriptionError as error:
                context = {"text": str(error)}
                raise PydanticCustomError("identification", "{text}", context) from error
            if duration_ns <= 0:
                raise PydanticCustomError("identification", f"{name}: expected a time > 0 s")
        return self

    def seconds(self, name: Literal["duration", "compared_duration", "rest"]) -> float:
        """Return one of the times."""
        return seconds(nanoseconds(getattr(self, name), name))
