"""The file of a twin, each number with its interval, and its times by another clock."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from orchestrator.core.diagnostics import UnknownNameError, choices_for
from orchestrator.core.diagnostics.reading import reads
from orchestrator.core.diagnostics.validation import Table, valid
from orchestrator.core.files.plain_data import toml_file
from orchestrator.core.structs import Struct

Floats = npt.NDArray[np.float64]
#: Two poles nearer than this are treated as one: the difference of the exponentials has no digits.
_DOUBLE = 1e-8


class Lag(Struct):
    """``1 / (s / w + 1)`` or ``w**2 / (s**2 + 2 damping w s + w**2)``, ``w = 2 pi frequency``.

    frequency: Hz, > 0: corner frequency of the first order, natural frequency of the second.
    damping: Ratio of the second order, > 0; ``None``: first order.
    """

    frequency: float
    damping: float | None = None

    def response(self, times: Floats) -> tuple[Floats, Floats]:
        """Return the step response and its derivative (1/s) at times in s; both 0 before 0."""
        w = 2.0 * math.pi * self.frequency
        turns = np.where(times > 0.0, w * times, 0.0)
        step, slope = _first(turns) if self.damping is None else _second(turns, self.damping)
        after = times > 0.0
        return np.where(after, step, 0.0), np.where(after, w * slope, 0.0)

    @property
    def settled(self) -> float:
        """Seconds after which a response of double precision has nothing left to do."""
        damping = 1.0 if self.damping is None else self.damping
        slowest = damping if damping <= 1.0 else 1.0 / (damping + math.sqrt(damping**2 - 1.0))
        return 45.0 / (2.0 * math.pi * self.frequency * slowest)

    def transfer(self, frequencies: Floats) -> npt.NDArray[np.complex128]:
        """Return the frequency response at frequencies in Hz."""
        s = np.asarray(1j * frequencies / self.frequency, dtype=np.complex128)
        if self.damping is None:
            return 1.0 / (1.0 + s)
        return 1.0 / (1.0 + 2.0 * self.damping * s + s * s)


def _first(turns: Floats) -> tuple[Floats, Floats]:
    decay = np.exp(-turns)
    return 1.0 - decay, decay


def _second(turns: Floats, damping: float) -> tuple[Floats, Floats]:
    """Step response and slope over ``w t``: under-damped, over-damped, or with one double pole."""
    split = damping * damping - 1.0
    if abs(split) < _DOUBLE:
        decay = np.exp(-turns)
        return 1.0 - decay * (1.0 + turns), decay * turns
    if split < 0.0:
        ring = math.sqrt(-split)
        decay = np.exp(-damping * turns)
        sine, cosine = np.sin(ring * turns), np.cos(ring * turns)
        return 1.0 - decay * (cosine + damping / ring * sine), decay * sine / ring
    root = math.sqrt(split)
    slow, fast = damping - root, damping + root
    slow_decay, fast_decay = np.exp(-slow * turns), np.exp(-fast * turns)
    step = 1.0 - (fast * slow_decay - slow * fast_decay) / (2.0 * root)
    return step, (slow_decay - fast_decay) / (2.0 * root)


Number = Annotated[float, Field(allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
Share = Annotated[float, Field(gt=0.0, lt=1.0)]


class Estimate(Table):
    """A number with its confidence interval, whose level the file states once.

    value: The estimate.
    low, high: Ends of the interval.
    """

    value: Number
    low: Number
    high: Number

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.low <= self.value <= self.high:
            raise ValueError("low <= value <= high")
        return self

    def __add__(self, addend: Estimate) -> Estimate:
        """Return the sum; its interval is the sum of both, which is never too narrow."""
        return Estimate(**{key: x + getattr(addend, key) for key, x in self})

    def scaled(self, factor: float) -> Estimate:
        """Multiply by a factor > 0."""
        return Estimate(**{key: x * factor for key, x in self})

    def without(self, variance: float) -> Estimate:
        """Return a standard deviation without a variance that it contains; none is below 0."""
        remaining = {key: math.sqrt(max(0.0, x * x - variance)) for key, x in self}
        return Estimate(**remaining)


#: Of what is wrong with a twin file by itself.
CODE = "TWN101"
#: Of what this module reads and writes.
FORMAT: Literal[1] = 1


class Dynamics(Table):
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
        is_given = [self.frequency is not None, self.damping is not None]
        if is_given != [self.order >= 1, self.order == 2]:
            raise ValueError(
                "'frequency' from order 1 on, 'damping' with order 2, and neither below that"
            )
        if any(
            estimate is not None and estimate.value <= 0.0
            for estimate in (self.frequency, self.damping)
        ):
            raise ValueError("a frequency > 0 and a damping > 0")
        return self

    @property
    def lag(self) -> Lag | None:
        """The lag, without intervals; ``None``: there is none."""
        if self.frequency is None:
            return None
        return Lag(self.frequency.value, None if self.damping is None else self.damping.value)


class Validation(Table):
    """How well the model, without another fit, reproduces a second record.

    excitation: Of that record.
    samples: How many of the device it has.
    residual: Root mean square of what the model leaves, in the unit of the response.
    fit: ``1 - residual / (standard deviation of the response)``; 1 is perfect.
    """

    excitation: str
    samples: int = Field(gt=0)
    residual: NotNegative
    fit: Annotated[float, Field(le=1.0, allow_inf_nan=False)]


class SignalPair(Table):
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
        fields = ("command_unit", "delay", "dynamics", "gain", "excitation", "validation")
        given_fields = [name for name in fields if getattr(self, name) is not None]
        if self.command is None and given_fields:
            raise ValueError(f"no {', '.join(given_fields)} without a command")
        if self.command is not None and len(given_fields) < len(fields):
            missing = ", ".join(sorted({*fields} - {*given_fields}))
            raise ValueError(f"with a command, expected also {missing}")
        return self

    @property
    def lag(self) -> Lag | None:
        """How the response follows the command after the delay; ``None``: at once."""
        return None if self.dynamics is None else self.dynamics.lag

    @property
    def loop_delay(self) -> Estimate:
        """Return the whole delay that a loop through the run has, s: delay and transit.

        Without a command it is the transit alone: what the sensor itself takes is not known.
        """
        return self.transit if self.delay is None else self.delay + self.transit


class TwinFile(Table):
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
        responses = [pair.response for pair in self.pair]
        raise UnknownNameError(
            f"the twin of '{self.component}' has no response"
            f" '{name}'{choices_for(name, responses, 'response', 'its')}"
        )


@reads("expected a twin file")
def read_twin(path: Path) -> TwinFile:
    """Read the file of a twin."""
    return valid(TwinFile, toml_file(path, expected="a twin file"), path, CODE)


def twin_text(twin: TwinFile) -> str:
    """Return the text of a twin's file, which :func:`read_twin` reads back as it is."""
    import tomlkit

    data = twin.model_dump(exclude_none=True, exclude=set() if twin.doubts else {"doubts"})
    pairs = tomlkit.aot()
    for pair in data.pop("pair"):
        table = tomlkit.table()
        table.update({key: _inline(value) for key, value in pair.items()})
        pairs.append(table)
    text = tomlkit.document()
    text.update({key: _inline(value) for key, value in data.items()} | {"pair": pairs})
    return tomlkit.dumps(text)


def _inline(value: Any) -> Any:
    """Return a value with tables that stand in one line."""
    import tomlkit

    if not isinstance(value, dict):
        return list(value) if isinstance(value, tuple) else value
    table = tomlkit.inline_table()
    table.update({key: _inline(inner) for key, inner in value.items() if inner is not None})
    return table


#: By which clocks may differ, millionths. Samples that come slower than that were held up, by a
#: machine that was busy: delays are not made shorter for it.
_MOST_PPM = 2e4


def drift_ppm(twin: TwinFile) -> Estimate | None:
    """Return by how many millionths a device's second is longer than the computer's.

    ``None`` where the file does not say what the device's own clock calls its rate. The interval is
    that of the rate of its samples.
    """
    if twin.rate is None:
        return None
    sample_rate = twin.pair[0].sample_rate
    value, low, high = (
        1e6 * (twin.rate / x - 1.0) for x in (sample_rate.value, sample_rate.high, sample_rate.low)
    )
    return Estimate(value=value, low=low, high=high)


def by_clock(twin: TwinFile, ppm: float) -> TwinFile:
    """Return a twin whose times are in seconds that are longer by a number of millionths.

    Intervals are scaled, and not widened by that of the drift: a delay of 32 ms by a clock that is
    known to 1 ppm is known to 32 ns.
    """
    factor = 1.0 / (1.0 + ppm * 1e-6)
    return twin.model_copy(update={"pair": tuple(_scaled(pair, factor) for pair in twin.pair)})


def in_run_time(
    twins: Sequence[TwinFile], clock: str | None
) -> tuple[tuple[TwinFile, ...], tuple[str, ...]]:
    """Return twins in the time of a run, and what was done, in sentences."""
    clock_twin = next((twin for twin in twins if twin.component == clock), None)
    drift = None if clock_twin is None else drift_ppm(clock_twin)
    if clock_twin is None or drift is None:
        return tuple(twins), ()
    if drift.value > _MOST_PPM:
        sample_rate = clock_twin.pair[0].sample_rate.value
        remark = (
            f"identified times refer to the computer's clock: samples of '{clock}' came at"
            f" {sample_rate:.4g} Hz instead of {clock_twin.rate:g} Hz, more than clocks drift, so"
            " the machine"
            " was probably busy; identify it again"
        )
        return tuple(twins), (remark,)
    remark = (
        f"identified times refer to the clock of '{clock}', as the run is: its second is"
        f" {drift.value:+.4g} ppm ({drift.low:+.4g} to {drift.high:+.4g}) longer than the"
        " computer's"
    )
    return tuple(by_clock(twin, drift.value) for twin in twins), (remark,)


def _scaled(pair: SignalPair, factor: float) -> SignalPair:
    dynamics = pair.dynamics
    if dynamics is not None and dynamics.frequency is not None:
        frequency = dynamics.frequency.scaled(1.0 / factor)
        dynamics = dynamics.model_copy(update={"frequency": frequency})
    times = {
        "delay": pair.delay and pair.delay.scaled(factor),
        "transit": pair.transit.scaled(factor),
        "jitter": pair.jitter.scaled(factor),
        "sample_rate": pair.sample_rate.scaled(1.0 / factor),
        "dynamics": dynamics,
    }
    return pair.model_copy(update=times)
