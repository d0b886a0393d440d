"""Linear analysis of a system as a master would step it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from orchestrator.coupling import DelayMode
from orchestrator.linearisation.loop_account import MODES, LoopAccount, loop_accounts
from orchestrator.linearisation.operating_point import unit_models
from orchestrator.linearisation.period_map import PeriodMap
from orchestrator.linearisation.unit_model import UnitModel
from orchestrator.master.algorithms.registry import DEFAULT_ALGORITHM
from orchestrator.master.run.preparation import mode_of, prepared
from orchestrator.master.schedule.compile import compile_schedule
from orchestrator.master.schedule.schedule import Schedule
from orchestrator.system import System, nanoseconds


@dataclass(frozen=True)
class MasterSettings:
    """How a master steps a system; see :func:`orchestrator.simulate`.

    Parameters
    ----------
    step_ns
        Communication step in nanoseconds.
    algorithm, delay, algorithm_options, rates
        As of a run.
    """

    step_ns: int
    algorithm: str = DEFAULT_ALGORITHM
    delay: DelayMode = DelayMode.EXACT
    algorithm_options: Mapping[str, Any] | None = None
    rates: Mapping[str, int] | None = None


@dataclass(frozen=True)
class LinearSystem:
    """A system whose components are linear models, and how a master steps it.

    Parameters
    ----------
    system
        As it is run, with the nominal delays of lines that vary.
    settings
        Of the master.
    models
        Of the components, by name.
    """

    system: System
    settings: MasterSettings
    models: Mapping[str, UnitModel]

    def schedule(self) -> Schedule:
        """Return what the master makes of it."""
        chosen = self.settings
        return compile_schedule(
            self.system,
            chosen.algorithm,
            chosen.step_ns,
            chosen.delay,
            (),
            chosen.algorithm_options,
            chosen.rates,
        )

    def period_map(self) -> PeriodMap:
        """Return the map of one period of the schedule."""
        sloped = [name for name, c in self.system.components.items() if c.takes_slopes]
        return PeriodMap(self.schedule(), self.models, sloped)

    def loop_accounts(self, count: int = MODES) -> list[LoopAccount]:
        """Say what the schedule does to the modes of every loop, the least damped first."""
        return loop_accounts(self.system, self.models, self.period_map(), count=count)


def linear_system(
    system: System,
    *,
    step: str | float,
    at: str | float = 0.0,
    algorithm: str = DEFAULT_ALGORITHM,
    delay: DelayMode | str = DelayMode.EXACT,
    algorithm_options: Mapping[str, Any] | None = None,
    rates: Mapping[str, int] | None = None,
    start: str | float = 0.0,
) -> LinearSystem:
    """Linearise every component of a system where a run has led it.

    Parameters
    ----------
    system, step, algorithm, delay, algorithm_options, rates, start
        As of :func:`orchestrator.simulate`.
    at
        Time of the point, on the grid of communication steps; seconds or text.

    Raises
    ------
    SoftdockError
        If the system cannot run as far, or a component cannot be linearised.
    """
    settings = MasterSettings(
        nanoseconds(step, "communication step"),
        algorithm,
        mode_of(delay),
        algorithm_options,
        rates,
    )
    models = unit_models(
        system,
        step=step,
        at=at,
        algorithm=algorithm,
        delay=settings.delay,
        options=algorithm_options,
        rates=rates,
        start=start,
    )
    prepared_system, _ = prepared(system, settings.delay, strict=False)
    return LinearSystem(_without_variation(prepared_system), settings, models)


def _without_variation(system: System) -> System:
    """Give varying delays their nominal value."""
    lines = tuple(
        line
        if line.delay is None or line.delay.variation is None
        else replace(line, delay=replace(line.delay, variation=None))
        for line in system.connections
    )
    return replace(system, connections=lines)
