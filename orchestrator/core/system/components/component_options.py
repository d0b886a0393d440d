"""How a component's source is run, apart from the values of its parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType

from orchestrator.core.diagnostics import DescriptionError, UnknownNameError, nearest
from orchestrator.core.system.time import nanoseconds

#: What may be chosen, by option; ``None`` is the default of the source.
CHOICES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "interface": ("cs", "me"),
        "solver": ("dopri5", "cvode"),
        "backend": ("native", "fmpy", "pyfmi"),
        "isolation": ("none", "process"),
        "on_failure": ("stop", "hold", "restart"),
    }
)

#: These have no default of the source.
_ALWAYS = ("backend", "on_failure")
#: These say where a unit runs.
_PROCESS = ("isolation", "process", "step_timeout", "on_failure", "restarts")


@dataclass(frozen=True, slots=True)
class ComponentOptions:
    """Options of one component.

    Parameters
    ----------
    interface
        ``"cs"`` (Co-Simulation) or ``"me"`` (Model Exchange) of an FMU; unless told,
        Co-Simulation where the FMU has it.
    solver
        What integrates a Model Exchange FMU: ``"dopri5"`` or ``"cvode"``; unless told, dopri5.
    tolerance
        Relative tolerance of that integration, above 0 and below 1; unless told, 1e-6.
    backend
        What executes the unit.
    isolation
        ``"process"``: the unit runs in a process of its own; ``"none"``: in that of the run. Unless
        told, in that of the run where that is possible.
    process
        With a process: a name by which components share one; unless told, it is the unit's own.
        Members that are stepped at the same point of the schedule are stepped in one round trip.
    step_timeout
        With a process: how long a call may take, in seconds of wall time or text (``"500 ms"``),
        before the unit counts as failed.
    on_failure
        With a process: ``"stop"`` ends the run; ``"hold"`` goes on with the outputs as they were;
        ``"restart"`` goes on in another process from a saved state.
    restarts
        How often at most, at least once.

    Raises
    ------
    DescriptionError
        If a value is none of those that may be chosen.
    """

    interface: str | None = None
    solver: str | None = None
    tolerance: float | None = None
    backend: str = "native"
    isolation: str | None = None
    process: str | None = None
    step_timeout: str | float = 10.0
    on_failure: str = "stop"
    restarts: int = 1

    def __post_init__(self) -> None:
        problems = [
            f"option '{option}': expected one of {', '.join(known)}, found {value!r}"
            for option, known in CHOICES.items()
            if (value := getattr(self, option)) not in known
            and not (value is None and option not in _ALWAYS)
        ]
        if self.tolerance is not None and not _is_tolerance(self.tolerance):
            problems.append(
                "option 'tolerance': expected a number above 0 and below 1,"
                f" found {self.tolerance!r}"
            )
        if self.process is not None and not (isinstance(self.process, str) and self.process):
            problems.append(f"option 'process': expected a name, found {self.process!r}")
        problems += self._wrong_limits()
        if problems:
            raise DescriptionError(*problems)

    def _wrong_limits(self) -> list[str]:
        problems = []
        try:
            if self.step_timeout_ns <= 0:
                problems.append(
                    f"option 'step_timeout': expected more than 0 s, found {self.step_timeout!r}"
                )
        except DescriptionError as error:
            problems += error.problems
        if (
            isinstance(self.restarts, bool)
            or not isinstance(self.restarts, int)
            or self.restarts < 1
        ):
            problems.append(
                f"option 'restarts': expected a whole number >= 1, found {self.restarts!r}"
            )
        return problems

    @property
    def step_timeout_ns(self) -> int:
        """How long a call may take, in nanoseconds of wall time."""
        return nanoseconds(self.step_timeout, "option 'step_timeout'")

    def changed(self, changes: Mapping[str, object]) -> ComponentOptions:
        """Return a copy with some options set.

        Raises
        ------
        UnknownNameError
            If there is no option of that name.
        DescriptionError
            If a value does not fit.
        """
        for option in changes:
            if option not in self.__dataclass_fields__:
                known = [field.name for field in fields(self)]
                raise UnknownNameError(
                    f"no option '{option}' of a component{nearest(option, known)};"
                    f" known: {', '.join(known)}"
                )
        if all(getattr(self, option) is value for option, value in changes.items()):
            return self
        return replace(self, **changes)  # type: ignore[arg-type]

    def numerical(self) -> dict[str, str]:
        """Say those of :meth:`said` on which the numbers of a run depend."""
        return {option: text for option, text in self.said().items() if option not in _PROCESS}

    def said(self) -> dict[str, str]:
        """Say the options that differ from their defaults, as text by name."""
        if self == _USUAL:
            return {}
        return {
            field.name: str(value)
            for field in fields(self)
            if (value := getattr(self, field.name)) != getattr(_USUAL, field.name)
        }


_USUAL = ComponentOptions()


def _is_tolerance(value: object) -> bool:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    return math.isfinite(value) and 0 < value < 1
