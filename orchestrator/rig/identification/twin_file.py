"""The file of a twin: what was identified of a device, each number with its interval."""

from __future__ import annotations

import math
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from orchestrator.core.diagnostics import DescriptionError, LoadError, UnknownNameError, nearest
from orchestrator.core.diagnostics.validation import format_validation_error
from orchestrator.core.plain_data import toml_data

Number = Annotated[float, Field(allow_inf_nan=False)]


class Estimate(BaseModel):
    """A number with its confidence interval, whose level the file states once.

    value: The estimate.
    low, high: Ends of the interval.
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


#: Of what is wrong with a twin file by itself.
CODE = "TWN101"
#: Of what this module reads and writes.
FORMAT: Literal[1] = 1

Positive = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
Share = Annotated[float, Field(gt=0.0, lt=1.0)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Dynamics(_Table):
    """How the response follows the command after the delay, with a gain of 1.

    ``1``, ``1 / (s / w + 1)`` or ``w**2 / (s**2 + 2 damping w s + w**2)``, ``w = 2 pi frequency``.

    order: 0, 1 or 2.
    frequency: Hz: corner frequency of the first order, natural frequency of the second.
    damping: Ratio of the second order.
    """

    order: Literal[0, 1, 2]
    frequency: Estimate | None = None
    damping: Estimate | None = None

    @model_validator(mode="after")
    def _complete(self) -> Self:
        given = [self.frequency is not None, self.damping is not None]
        if given != [self.order >= 1, self.order == 2]:
            raise ValueError(
                "'frequency' from order 1 on, 'damping' with order 2, and neither below that"
            )
        if any(each is not None and each.value <= 0.0 for each in (self.frequency, self.damping)):
            raise ValueError("a frequency > 0 and a damping > 0")
        return self


class Validation(_Table):
    """How well the model, with nothing fitted anew, gives a second record.

    excitation: Of that record.
    samples: How many of the device it has.
    residual: Root mean square of what the model leaves, in the unit of the response.
    fit: ``1 - residual / (standard deviation of the response)``; 1 is perfect.
    """

    excitation: str
    samples: int = Field(gt=0)
    residual: NotNegative
    fit: Annotated[float, Field(le=1.0, allow_inf_nan=False)]


class SignalPair(_Table):
    """What lies between a command of a device and one of its responses.

    Of a response that no command moves, such as that of a sensor, only ``transit`` and what can be
    seen at rest are known; its ``command``, ``delay``, ``dynamics``, ``gain``, ``excitation`` and
    ``validation`` are left out.

    command, response: Names of the connectors, ``name[i]`` for an element of an array.
    command_unit, response_unit: Units of ``gain``, ``noise``, ``quantisation`` and ``offset``.
    provenance: ``identified``: by a model fitted to records; ``measured``: without one.
    delay: s, from the moment at which the device takes a command to its effect in the response, by
        the time stamps of the device's samples.
    transit: s, what the run sees in addition, on average: the wait of a command for the device to
        take it, and the age of the sample when the run reads it, with the step of the record.
    dynamics: After the delay.
    gain: Response per command at rest, response unit / command unit.
    offset: Response at a command of 0, in the unit of the response.
    noise: Standard deviation of the measurement noise at rest, in the unit of the response, without
        that of rounding to ``quantisation``. Where ``unexplained`` is left out: of all that the
        model leaves.
    unexplained: Standard deviation of what the model leaves beyond noise and rounding while the
        device moves, such as friction that sticks; a twin does not repeat it.
    quantisation: Step of the values of the response; 0: none was found.
    jitter: s, standard deviation of the arrival of samples about their even spacing.
    sample_rate: Hz, samples of the device by the clock of this machine.
    excitation: Of the record that the model was fitted to.
    samples: How many of the device that record has.
    validation: On a second record.
    """

    command: str | None = None
    response: str
    command_unit: str | None = None
    response_unit: str
    provenance: Literal["identified", "measured"]
    delay: Estimate | None = None
    transit: Estimate
    dynamics: Dynamics | None = None
    gain: Estimate | None = None
    offset: Number
    noise: Estimate
    unexplained: Estimate | None = None
    quantisation: NotNegative
    jitter: Estimate
    sample_rate: Estimate
    excitation: str | None = None
    samples: int = Field(gt=0)
    validation: Validation | None = None

    @model_validator(mode="after")
    def _complete(self) -> Self:
        known = ("command_unit", "delay", "dynamics", "gain", "excitation", "validation")
        given = [name for name in known if getattr(self, name) is not None]
        if self.command is None and given:
            raise ValueError(f"no {', '.join(given)} without a command")
        if self.command is not None and len(given) < len(known):
            raise ValueError(f"{', '.join(sorted({*known} - {*given}))} beside the command")
        return self

    @property
    def loop_delay(self) -> Estimate:
        """Return the whole delay that a loop through the run has, s: delay and transit.

        Without a command it is the transit alone: what the sensor itself takes is not known.
        """
        return self.transit if self.delay is None else self.delay + self.transit


class TwinFile(_Table):
    """All that was identified of one device.

    format: Of the file.
    software: Name and version of what wrote it.
    date: When the records were taken, with the offset from UTC.
    component: That the device stands for in the system.
    device: Name of the adapter.
    settings: Of the adapter, all of them, as they were.
    step: s, of the run that took the records.
    confidence: Level of all intervals, such as 0.95.
    rate: Hz, samples of the device by its own clock, as it is declared; ``None``: not known.
    pair: One for each command and response.
    doubts: By response, why it is not to be relied on; of what no model describes there is no pair.
    """

    format: Literal[1] = FORMAT
    software: str
    date: datetime
    component: str
    device: str
    settings: dict[str, Any] = Field({})
    step: Positive
    confidence: Share
    rate: Positive | None = None
    pair: tuple[SignalPair, ...] = Field(min_length=1)
    doubts: dict[str, str] = Field({})

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        responses = [pair.response for pair in self.pair]
        if len(set(responses)) < len(responses):
            raise ValueError("one pair for each response")
        return self

    def without_doubts(self) -> TwinFile:
        """Return the twin without what is in doubt; it may have no pairs then."""
        sure = tuple(pair for pair in self.pair if pair.response not in self.doubts)
        return self.model_copy(update={"pair": sure, "doubts": {}})

    def response(self, name: str) -> SignalPair:
        """Return the pair of a response."""
        for pair in self.pair:
            if pair.response == name:
                return pair
        known = [pair.response for pair in self.pair]
        raise UnknownNameError(
            f"the twin of '{self.component}' has no response '{name}'{nearest(name, known)};"
            f" it has: {', '.join(known)}"
        )


def read_twin(path: Path) -> TwinFile:
    """Read the file of a twin."""
    try:
        content = toml_data(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise LoadError.in_file(path, "no such file") from None
    except (OSError, ValueError) as error:
        raise LoadError.in_file(path, f"expected a twin file: {error}") from None
    try:
        return TwinFile.model_validate(content)
    except ValidationError as error:
        raise DescriptionError(*format_validation_error(error, TwinFile, path, CODE)) from None


def twin_text(twin: TwinFile) -> str:
    """Return the text of a twin's file, which :func:`read_twin` reads back as it is."""
    import tomlkit

    data = twin.model_dump(exclude_none=True, exclude=set() if twin.doubts else {"doubts"})
    pairs = tomlkit.aot()
    for pair in data.pop("pair"):
        table = tomlkit.table()
        for key, value in pair.items():
            table[key] = _inline(value)
        pairs.append(table)
    text = tomlkit.document()
    for key, value in data.items():
        text[key] = _inline(value)
    text["pair"] = pairs
    return tomlkit.dumps(text)


def _inline(value: Any) -> Any:
    """Return a value with tables that stand in one line."""
    import tomlkit

    if not isinstance(value, dict):
        return list(value) if isinstance(value, tuple) else value
    table = tomlkit.inline_table()
    for key, inner in value.items():
        if inner is not None:
            table[key] = _inline(inner)
    return table
