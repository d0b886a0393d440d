"""What all tables of an experiment file have in common."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, StrictFloat, StrictInt, StrictStr

Time = StrictStr | StrictInt | StrictFloat
#: Axis of an angle of a signal that is a quaternion, in degrees; ``None``: it is taken as it is.
Angle = Literal["x", "y", "z"] | None


class Table(BaseModel):
    """A table that does not change once it is read, and has no keys that are not listed."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, defer_build=True)
