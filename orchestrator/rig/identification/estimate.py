"""A number with its confidence interval."""

from __future__ import annotations

import math
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Number = Annotated[float, Field(allow_inf_nan=False)]


class Estimate(BaseModel):
    """A number with its confidence interval, whose level the file states once.

    Parameters
    ----------
    value
        The estimate.
    low, high
        Ends of the interval.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    value: Number
    low: Number
    high: Number

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.low <= self.value <= self.high:
            raise ValueError("low <= value <= high")
        return self

    def __add__(self, other: Estimate) -> Estimate:
        """Return the sum; its interval is the sum of both, which is never too narrow."""
        return Estimate(
            value=self.value + other.value, low=self.low + other.low, high=self.high + other.high
        )

    def scaled(self, factor: float) -> Estimate:
        """Return so many times the number, with a factor > 0."""
        return Estimate(value=self.value * factor, low=self.low * factor, high=self.high * factor)

    def without(self, variance: float) -> Estimate:
        """Return a standard deviation without a variance that it contains; none is below 0."""
        found = (math.sqrt(max(0.0, x * x - variance)) for x in (self.value, self.low, self.high))
        value, low, high = found
        return Estimate(value=value, low=low, high=high)
