"""Default settings of a run that a system stores."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from math import inf
from typing import TYPE_CHECKING, Any

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.structs import Struct, field, replace
from orchestrator.core.system.naming import unknown
from orchestrator.core.system.ports import Limits
from orchestrator.core.system.time import (
    StepLength,
    nanoseconds,
    seconds,
    settled_end,
    step_length,
    step_text,
    time_text,
)

if TYPE_CHECKING:
    from orchestrator.core.system.system import System


#: Keywords of a run that decide on how it is stepped.
WAY = ("step", "start", "algorithm", "algorithm_options", "rates", "delay", "early_return")


class DefaultExperiment(Struct):
    """Default simulation settings stored with a system (times in nanoseconds).

    Parameters
    ----------
    start_ns, stop_ns, step_ns, algorithm
        ``None``: not set.
    algorithm_options
        Options of the algorithm by name: numbers, truth values or text.
    rates
        Communication steps that a component takes at once, by name.
    early_return
        Whether units may end a step at an event; ``None``: not set.
    tuning
        Limits of changes during a run: of values by ``component.connector``, of delays in
        nanoseconds by ``source -> target``.
    """

    start_ns: int = 0
    stop_ns: int | None = None
    step_ns: int | None = None
    algorithm: str | None = None
    algorithm_options: Mapping[str, float | bool | str] = field(default_factory=dict)
    rates: Mapping[str, int] = field(default_factory=dict)
    early_return: bool | None = None
    tuning: Mapping[str, Limits] = field(default_factory=dict)

    def __repr__(self) -> str:
        times = {"start": self.start_ns, "stop": self.stop_ns, "step": self.step_ns}
        settings = {name: time_text(ns) for name, ns in times.items() if ns is not None}
        others = ("algorithm", "algorithm_options", "rates", "early_return", "tuning")
        settings |= {name: value for name in others if (value := getattr(self, name))}
        return f"DefaultExperiment {', '.join(f'{name} {text}' for name, text in settings.items())}"


def tuning_limits(name: str, minimum: str | float | None, maximum: str | float | None) -> Limits:
    """Return the limits of a value or, of ``source -> target``, of a delay in nanoseconds.

    An infinite end is none. Raises DescriptionError: if that is no range.
    """
    ends = [
        None if end == endless else _end_of(name, key, end)
        for key, end, endless in (("minimum", minimum, -inf), ("maximum", maximum, inf))
    ]
    try:
        limits = Limits.of(*ends)
    except DescriptionError as error:
        raise DescriptionError(f'tuning."{name}": {error}') from None
    if limits is None:
        raise DescriptionError(f'tuning."{name}": expected minimum, maximum or both, found neither')
    return limits


def _end_of(name: str, key: str, end: object) -> float | None:
    key_path = f'tuning."{name}".{key}'
    if end is None:
        return None
    if "->" in name and isinstance(end, (str, int, float)):
        return nanoseconds(end, key_path)
    most = sys.float_info.max
    if isinstance(end, (int, float)) and not isinstance(end, bool) and abs(end) <= most:
        return float(end)
    raise DescriptionError(f"{key_path}: expected a finite number, found {end!r}")


def limits_of(name: str, given: object) -> Limits:
    """Return the limits that Python code gives for a value or a delay, as :func:`tuning_limits`.

    Raises DescriptionError: if they are neither a range nor its two ends.
    """
    if isinstance(given, Limits):
        if not given.least < given.most:
            raise DescriptionError(f"limits of '{name}': expected a range, found {given!r}")
        return given
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise DescriptionError(
            f"limits of '{name}': expected a minimum and a maximum, such as (0.0, 5.0) or"
            f" (0.0, None), found {given!r}"
        )
    return tuning_limits(name, *given)


def communication_step_ns(system: System, step: str | float | None = None) -> int:
    """Return the communication step in nanoseconds: the one that is given, or the system's own."""
    default_ns = system.experiment.step_ns
    step_ns = default_ns if step is None else step_length(step)
    if step_ns is None:
        raise DescriptionError(
            f"system '{system.name}': no communication step is given; pass step='1 ms' in Python or"
            " --step '1 ms' on the command line"
        )
    return step_ns


def horizon(
    system: System,
    start: str | float | None,
    stop: str | float | None,
    step: str | float | None,
) -> tuple[int, int, int]:
    """Start, stop and step in nanoseconds; what is ``None`` is the system's own."""
    default = system.experiment
    start_ns = default.start_ns if start is None else nanoseconds(start, "start time")
    stop_ns = default.stop_ns if stop is None else nanoseconds(stop, "stop time")
    if stop_ns is None:
        raise DescriptionError(
            f"system '{system.name}': no stop time is given; pass stop='10 s' in Python or"
            " --stop '10 s' on the command line"
        )
    step_ns = communication_step_ns(system, step)
    if step_ns <= 0:
        raise DescriptionError(
            f"system '{system.name}': the communication step is {seconds(step_ns):.9g} s; expected"
            " more than 0 s"
        )
    if stop_ns - start_ns < step_ns:
        raise DescriptionError(
            f"system '{system.name}': the stop time is {seconds(stop_ns):.9g} s; expected at least"
            f" one step of {seconds(step_ns):.9g} s after the start at {seconds(start_ns):.9g} s"
        )
    return start_ns, start_ns + settled_end(stop_ns - start_ns, step_ns), step_ns


def whole_step_ns(system: System, step: str | float | None, label: str) -> int:
    """Return the communication step for what counts whole nanoseconds; raises DescriptionError."""
    step_ns = communication_step_ns(system, step)
    if isinstance(step_ns, StepLength):
        raise DescriptionError(
            f"communication step: {label} needs whole nanoseconds, and {step_text(step_ns)} is"
            f" not a whole number of them: round it, such as to {round(step_ns.exact)} ns"
        )
    return step_ns


def with_experiment(system: System, **changes: Any) -> System:
    """Change the default settings: ``system.with_experiment(stop="10 s", step="1 ms")``."""
    times = {"start": "start_ns", "stop": "stop_ns", "step": "step_ns"}
    keys = [*times, "algorithm", "algorithm_options", "rates", "early_return", "tuning"]
    fields: dict[str, Any] = {}
    for name, value in changes.items():
        if name not in keys:
            raise unknown("setting", name, keys, f"experiment of system '{system.name}'")
        if name in times:
            read = step_length if name == "step" else nanoseconds
            ns = None if value is None else read(value, f"{name} time")
            fields[times[name]] = 0 if ns is None and name == "start" else ns
        elif name == "tuning":
            fields[name] = {key: limits_of(key, ends) for key, ends in (value or {}).items()}
        else:
            is_table = value is None and name in {"algorithm_options", "rates"}
            fields[name] = {} if is_table else value
    old = system.experiment
    if fields.get("algorithm", old.algorithm) != old.algorithm:
        fields.setdefault("algorithm_options", {})
    experiment = replace(old, **fields)
    if experiment.step_ns is not None and experiment.step_ns <= 0:
        raise DescriptionError(f"step: expected > 0 s, found {seconds(experiment.step_ns):g} s")
    if experiment.stop_ns is not None and experiment.stop_ns < experiment.start_ns + (
        experiment.step_ns or 1
    ):
        raise DescriptionError(
            "stop: expected at least one step after the start of"
            f" {seconds(experiment.start_ns):g} s, found {seconds(experiment.stop_ns):g} s"
        )
    return replace(system, experiment=experiment)
