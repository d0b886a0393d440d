"""How a system wants to be run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class DefaultExperiment:
    """How a system wants to be run where nothing else is said (times in nanoseconds).

    Parameters
    ----------
    start_ns, stop_ns, step_ns, algorithm
        ``None``: not said.
    algorithm_options
        Options of the algorithm by name: numbers, truth values or text.
    rates
        Every how many steps a component takes one, by name.
    early_return
        Whether units may end a step at an event; ``None``: not said.
    """

    start_ns: int = 0
    stop_ns: int | None = None
    step_ns: int | None = None
    algorithm: str | None = None
    algorithm_options: Mapping[str, float | bool | str] = field(default_factory=dict)
    rates: Mapping[str, int] = field(default_factory=dict)
    early_return: bool | None = None
