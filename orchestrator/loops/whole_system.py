"""Linear analysis of a system as a master would step it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from orchestrator.core.coupling import DEFAULT_DELAY, DelayMode
from orchestrator.core.master import MasterSettings, Schedule, compile_schedule
from orchestrator.core.master import start as begin
from orchestrator.core.master.run.preparation import mode_of, prepared
from orchestrator.core.system import System
from orchestrator.loops.jacobian import Side
from orchestrator.loops.loop_account import MODES, LoopAccount, loop_accounts
from orchestrator.loops.loop_transfer import Margins, open_loop
from orchestrator.loops.operating_point import by_model_exchange, unit_models
from orchestrator.loops.period_map import PeriodMap
from orchestrator.loops.unit_model import UnitModel


@dataclass(frozen=True)
class LinearSystem:
    """A system whose components are linear models, and how a master steps it.

    Parameters
    ----------
    system
        As it is run, with the nominal delays of lines that vary.
    master, delay, step_ns
        How it is stepped: the algorithm with its options and rates, what becomes of declared
        delays, and the communication step in nanoseconds.
    models
        Of the components, by name.
    record
        Outputs that are kept although nothing is connected to them.
    start, at
        When its run begins, and the time of the point; ``None``: as the system says, the start.
    contact
        What was taken of kinks.
    """

    system: System
    master: MasterSettings
    delay: DelayMode
    step_ns: int
    models: Mapping[str, UnitModel]
    record: tuple[str, ...] = ()
    start: str | float | None = None
    at: str | float | None = None
    contact: Side = Side.MEAN

    def schedule(self) -> Schedule:
        """Return what the master makes of it."""
        return self._compiled

    @cached_property
    def _compiled(self) -> Schedule:
        chosen = self.master
        return compile_schedule(
            self.system,
            chosen.algorithm,
            self.step_ns,
            self.delay,
            self.record,
            chosen.options,
            chosen.rates,
        )

    def period_map(self, only: int | None = None) -> PeriodMap:
        """Return the map of one period of the schedule, or of only one of its steps."""
        return PeriodMap(self.schedule(), self.models, only)

    def loop_accounts(self, count: int = MODES) -> list[LoopAccount]:
        """Say what the schedule does to the modes of every loop, the least damped first."""
        return loop_accounts(self.system, self.models, self.period_map(), count=count)

    def margins(self, line: str, element: int = 1) -> Margins:
        """Return the margins in continuous time at one line; see :func:`open_loop`."""
        return open_loop(self.system, self.models, line, element).margins()

    def contact_accounts(self, count: int = MODES) -> dict[str, list[LoopAccount]]:
        """Say the same for each mode of a contact that is just open: ``open`` and ``closed``.

        Nothing is said where no component stands at a kink.
        """
        return {str(side.contact): side.loop_accounts(count) for side in self.sides()}

    def sides(self) -> tuple[LinearSystem, ...]:
        """Linearise what stands at a kink again, as a contact that is open and one that is closed.

        There is neither where no component stands at one.
        """
        smooth = {name: model for name, model in self.models.items() if not model.kinks}
        if len(smooth) == len(self.models):
            return ()
        return tuple(
            self._again(self.system, contact=side, known=smooth)
            for side in (Side.OPEN, Side.CLOSED)
        )

    def with_value(self, path: str, value: float) -> LinearSystem:
        """Linearise it again with another value of a parameter, ``component.parameter``.

        Raises
        ------
        SoftdockError
            If there is no such parameter, it does not take the value, or the system cannot be
            linearised with it.
        """
        return self._again(self.system.set(path, value))

    def _again(self, system: System, **options: Any) -> LinearSystem:
        return linear_system(
            system,
            step=f"{self.step_ns} ns",
            start=self.start,
            at=self.at,
            algorithm=self.master.algorithm,
            delay=self.delay,
            algorithm_options=self.master.options,
            rates=self.master.rates,
            record=self.record,
            **{"contact": self.contact, **options},
        )


def linear_system(
    system: System,
    *,
    step: str | float | None = None,
    start: str | float | None = None,
    at: str | float | None = None,
    algorithm: str | None = None,
    delay: DelayMode | str = DEFAULT_DELAY,
    algorithm_options: Mapping[str, Any] | None = None,
    rates: Mapping[str, int] | None = None,
    record: tuple[str, ...] = (),
    contact: Side | str = Side.MEAN,
    known: Mapping[str, UnitModel] | None = None,
) -> LinearSystem:
    """Linearise every component of a system where a run has led it.

    Parameters
    ----------
    system, step, start, algorithm, delay, algorithm_options, rates
        As of :func:`orchestrator.start`.
    at
        Time of the point, on the grid of communication steps; seconds or text; ``None``: the start.
    record
        Outputs that are kept although nothing is connected to them.
    contact
        What is taken of a contact that is just open, or of any kink: ``"mean"``, ``"open"``, the
        side where less acts, or ``"closed"``.
    known
        Models of components at this point that there are already.

    Raises
    ------
    SoftdockError
        If the system cannot run as far, or a component cannot be linearised.
    """
    mode = mode_of(delay)
    master = MasterSettings.of(system, algorithm, algorithm_options, rates)
    with begin(
        by_model_exchange(system),
        step=step,
        start=start,
        algorithm=algorithm,
        delay=mode,
        record=record,
        algorithm_options=algorithm_options,
        rates=rates,
    ) as run:
        if at is not None:
            run.advance(at)
        models = unit_models(run, Side(contact), known or {})
        step_ns = run.schedule.step_ns
    prepared_system, _ = prepared(system, mode, strict=False)
    flat = _without_variation(prepared_system)
    return LinearSystem(flat, master, mode, step_ns, models, record, start, at, Side(contact))


def _without_variation(system: System) -> System:
    """Give varying delays their nominal value."""
    lines = tuple(
        line
        if line.delay is None or line.delay.variation is None
        else replace(line, delay=replace(line.delay, variation=None))
        for line in system.connections
    )
    return replace(system, connections=lines)
