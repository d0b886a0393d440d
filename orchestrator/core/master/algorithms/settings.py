"""How a system is run: what is asked for, completed by what the system wants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from orchestrator.core.coupling import DEFAULT_DELAY, DelayMode
from orchestrator.core.diagnostics import UnknownNameError
from orchestrator.core.master.algorithms.registry import DEFAULT_ALGORITHM
from orchestrator.core.system import System
from orchestrator.core.system.experiment import WAY
from orchestrator.core.system.step_length import step_text

if TYPE_CHECKING:
    from orchestrator.core.coupling import Tuned
    from orchestrator.core.realtime import RealTime
    from orchestrator.core.system import Fault
    from orchestrator.core.system.ports.limits import Limits


class StepKeywords(TypedDict, total=False):
    """What decides on how a system is stepped; see :class:`orchestrator.Execution`."""

    step: str | float | None
    start: str | float | None
    algorithm: str | None
    algorithm_options: Mapping[str, Any] | None
    rates: Mapping[str, int] | None
    delay: DelayMode | str | None
    early_return: bool | None


class RunKeywords(StepKeywords, total=False):
    """What can be asked of a run; see :class:`orchestrator.Execution`."""

    stop: str | float | None
    record: Sequence[str] | str | None
    every: int | None
    threads: int | None
    faults: Sequence[Fault]
    strict: bool
    realtime: RealTime | None
    tuned: Sequence[Tuned]
    limits: Mapping[str, Limits | tuple[float, float]] | None


@dataclass(frozen=True, slots=True)
class ExecutionSettings:
    """How one system is run, whatever is done with it; see :class:`orchestrator.Execution`.

    Times are as they were given. ``None``: no step is given, no stop is announced, all outputs are
    recorded, and as many threads are used as there are processors.
    """

    step: str | float | None = None
    start: str | float = 0
    stop: str | float | None = None
    algorithm: str = DEFAULT_ALGORITHM
    algorithm_options: Mapping[str, Any] = field(default_factory=dict)
    rates: Mapping[str, int] = field(default_factory=dict)
    delay: DelayMode | str = DEFAULT_DELAY
    early_return: bool = True
    record: Sequence[str] | str | None = None
    every: int = 1
    threads: int | None = None
    faults: Sequence[Fault] = ()
    strict: bool = False
    realtime: RealTime | None = None
    tuned: Sequence[Tuned] = ()
    limits: Mapping[str, Limits | tuple[float, float]] | None = None

    @classmethod
    def of(cls, system: System, **given: Unpack[RunKeywords]) -> ExecutionSettings:
        """Complete what is asked for.

        What is ``None`` comes from the system's default experiment, but for the stop, else is the
        default of Softdock. Options of the experiment are for its own algorithm: with another they
        are left.
        """
        default = system.experiment
        algorithm = default.algorithm or DEFAULT_ALGORITHM
        own: dict[str, Any] = {
            "step": None if default.step_ns is None else step_text(default.step_ns),
            "start": f"{default.start_ns} ns",
            "algorithm": algorithm,
            "rates": default.rates,
            "early_return": default.early_return is not False,
        }
        if given.get("algorithm") in {None, default.algorithm}:
            own["algorithm_options"] = default.algorithm_options
        return cls(**own | {name: value for name, value in given.items() if value is not None})

    @property
    def mode(self) -> DelayMode:
        """What becomes of declared delays."""
        try:
            return DelayMode(self.delay)
        except ValueError:
            raise UnknownNameError(
                f"delay mode: expected one of {', '.join(DelayMode)}, found '{self.delay}'"
            ) from None

    @property
    def way(self) -> dict[str, Any]:
        """What decides on how it is stepped, by keyword."""
        return {name: getattr(self, name) for name in WAY}
