"""How a component's source is run, apart from the values of its parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType

from orchestrator.errors import DescriptionError, UnknownNameError

#: What may be chosen, by option; ``None`` is the default of the source.
CHOICES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "interface": ("cs", "me"),
        "solver": ("dopri5", "cvode"),
        "backend": ("native", "fmpy", "pyfmi"),
        "isolation": ("none", "process"),
    }
)


@dataclass(frozen=True, slots=True)
class UnitOptions:
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
        Whether the unit runs in a process of its own.

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

    def __post_init__(self) -> None:
        problems = [
            f"option '{option}': expected one of {', '.join(known)}, found {value!r}"
            for option, known in CHOICES.items()
            if (value := getattr(self, option)) not in known
            and not (value is None and option != "backend")
        ]
        if self.tolerance is not None and not _is_tolerance(self.tolerance):
            problems.append(
                "option 'tolerance': expected a number above 0 and below 1,"
                f" found {self.tolerance!r}"
            )
        if problems:
            raise DescriptionError(*problems)

    def changed(self, changes: Mapping[str, object]) -> UnitOptions:
        """Return a copy with some options set.

        Raises
        ------
        UnknownNameError
            If there is no option of that name.
        DescriptionError
            If a value does not fit.
        """
        known = [field.name for field in fields(self)]
        for option in changes:
            if option not in known:
                raise UnknownNameError(
                    f"no option '{option}' of a component; known: {', '.join(known)}"
                )
        return replace(self, **changes)  # type: ignore[arg-type]

    def said(self) -> dict[str, str]:
        """Say the options that differ from their defaults, as text by name."""
        usual = UnitOptions()
        return {
            field.name: str(value)
            for field in fields(self)
            if (value := getattr(self, field.name)) != getattr(usual, field.name)
        }


def _is_tolerance(value: object) -> bool:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    return math.isfinite(value) and 0 < value < 1
