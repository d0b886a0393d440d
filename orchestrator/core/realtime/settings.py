"""How a run is kept to real time."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from orchestrator.core import posix
from orchestrator.core.diagnostics import DescriptionError, UnknownNameError, nearest
from orchestrator.core.system import nanoseconds

#: Priorities of SCHED_FIFO in Linux; the kernel's own threads that must not wait have 99.
HIGHEST_PRIORITY = 98
#: Overruns that are kept with all their figures; the latest ones.
KEPT_OVERRUNS = 1000


class OverrunPolicy(StrEnum):
    """What follows a step that ended after its deadline.

    ``catch_up``: deadlines stay, and the next steps begin at once until they are met again.
    ``slip``: all later deadlines move by what the step was late. ``stop``: as ``catch_up``, and so
    many overruns in a row end the run. No step is ever left out.
    """

    CATCH_UP = "catch_up"
    SLIP = "slip"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class RealTime:
    """How a run is kept to real time.

    Parameters
    ----------
    factor
        Simulated seconds per second on the wall, > 0.
    clock
        Name of the component, a device, whose samples are the clock: a step begins with each, and
        simulated time is that of the device. ``None``: the computer's clock.
    policy
        What follows an overrun: ``"catch_up"``, ``"slip"`` or ``"stop"``; see
        :class:`OverrunPolicy`.
    overruns
        With ``"stop"``: how many in a row end the run, >= 1.
    budget
        Computing time of a step from which on it counts as an overrun though it met its deadline;
        seconds or text such as ``"300 us"``; ``None``: no such limit.
    budgets
        The same for components, by name, all their calls within a step together.
    priority
        Of SCHED_FIFO, 1 to 98; 0: the policy of the process stays.
    cpus
        Numbers of the processors that the run keeps to; empty: all that the process may use.
    lock_memory
        Whether memory that is in use when the run begins is kept from being paged out.
    collect_garbage
        Whether the interpreter may collect garbage while the run goes on.

    Raises
    ------
    DescriptionError
        If a figure lies out of its range; all are told together.
    """

    factor: float = 1.0
    clock: str | None = None
    policy: OverrunPolicy | str = OverrunPolicy.CATCH_UP
    overruns: int = 1
    budget: str | float | None = None
    budgets: Mapping[str, str | float] = field(default_factory=dict)
    priority: int = 80
    cpus: Collection[int] = ()
    lock_memory: bool = True
    collect_garbage: bool = False

    def __post_init__(self) -> None:
        found = list(self._problems())
        if found:
            raise DescriptionError.collect(found)

    def _problems(self) -> Iterator[DescriptionError]:
        if not _is_number(self.factor) or not (0 < self.factor < math.inf):
            yield _wrong("factor", "a finite number > 0", self.factor)
        elif self.clock is not None and self.factor != 1:
            told = f"1 beside clock '{self.clock}', which nobody can hurry"
            yield _wrong("factor", told, self.factor)
        policies = [str(policy) for policy in OverrunPolicy]
        if self.policy not in policies:
            said = f"{', '.join(policies[:-1])} or {policies[-1]}"
            near = nearest(str(self.policy), policies)
            yield _wrong("policy", said, self.policy, near)
        if not _is_whole(self.overruns) or not 1 <= self.overruns < 2**62:
            yield _wrong("overruns", "a whole number >= 1", self.overruns)
        elif self.overruns != 1 and self.policy != OverrunPolicy.STOP:
            yield _wrong("overruns", "it only with policy 'stop'", self.overruns)
        if not _is_whole(self.priority) or not 0 <= self.priority <= HIGHEST_PRIORITY:
            yield _wrong("priority", f"a whole number, 0 to {HIGHEST_PRIORITY}", self.priority)
        yield from _wrong_budgets({"budget": self.budget} if self.budget is not None else {})
        yield from _wrong_budgets({f"budgets.{k}": v for k, v in self.budgets.items()})

    def expect_cpus(self) -> None:
        """Expect that this process may use the processors.

        Raises
        ------
        DescriptionError
            If it may not; the message lists those that it may.
        """
        there = sorted(posix.processors())
        absent = [cpu for cpu in self.cpus if not _is_whole(cpu) or cpu not in there]
        if absent:
            listed = ", ".join(map(str, there))
            raise _wrong("cpus", f"processors that this process may use ({listed})", absent)

    @property
    def budget_ns(self) -> int:
        """Budget of a step in nanoseconds; 0: none."""
        return 0 if self.budget is None else nanoseconds(self.budget, "realtime.budget")

    def unit_budgets_ns(self, components: Collection[str]) -> dict[str, int]:
        """Return the budgets of components in nanoseconds, 0 for those without one.

        Raises
        ------
        UnknownNameError
            If there is no such component.
        """
        for name in self.budgets:
            if name not in components:
                raise UnknownNameError(
                    f"realtime.budgets: no component '{name}'{nearest(name, components)};"
                    f" components: {', '.join(components)}"
                )
        return {
            name: nanoseconds(self.budgets[name], f"realtime.budgets.{name}")
            if name in self.budgets
            else 0
            for name in components
        }


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return _is_whole(value) or isinstance(value, float)


def _wrong(key: str, expected: str, found: object, near: str = "") -> DescriptionError:
    return DescriptionError(f"realtime.{key}: expected {expected}, found {found!r}{near}")


def _wrong_budgets(budgets: Mapping[str, str | float]) -> Iterator[DescriptionError]:
    for key, budget in budgets.items():
        try:
            ns = nanoseconds(budget, f"realtime.{key}")
        except DescriptionError as error:
            yield error
            continue
        if ns <= 0:
            yield _wrong(key, "a time > 0 s", budget)
