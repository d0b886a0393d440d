"""A variable of a slave, as its description has it (section 5.13)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from orchestrator.dcp.data_types import DcpType, Scalar


class VariableKind(StrEnum):
    """What a variable is, by the name of its element."""

    INPUT = "Input"
    OUTPUT = "Output"
    PARAMETER = "Parameter"
    STRUCTURAL = "StructuralParameter"


@dataclass(frozen=True, slots=True)
class StepChoice:
    """Steps between two data PDUs of an output, or of one computation (NRT).

    Parameters
    ----------
    default
        In units of the time resolution.
    fixed
        Whether no other number is taken.
    least, most
        Ends of what is taken; ``None``: not said.
    """

    default: int = 1
    fixed: bool = True
    least: int | None = None
    most: int | None = None

    def takes(self, steps: int) -> bool:
        """Whether so many steps may be asked for."""
        if self.fixed:
            return steps == self.default
        return self._least <= steps and (self.most is None or steps <= self.most)

    @property
    def _least(self) -> int:
        return max(self.least or 1, 1)

    def __str__(self) -> str:
        """Say what is taken, for a message."""
        if self.fixed:
            return f"{self.default}"
        return f"{self._least} or more" if self.most is None else f"{self._least} to {self.most}"


@dataclass(frozen=True, slots=True)
class Dependencies:
    """On which variables an output depends at once, by reference; ``None``: perhaps on all."""

    initialization: tuple[int, ...] | None = None
    run: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Variable:
    """One input, output or parameter.

    Parameters
    ----------
    name, reference, kind, type
        As the description has them; name and reference are unique.
    start
        Its elements, row by row; empty if it has none.
    dimensions
        Extents: constants, or the value references of structural parameters (``linked``).
    linked
        Which of the dimensions are references.
    unit
        Name of a unit, ``None`` if it has none.
    minimum, maximum
        Of each element; ``None``: not said.
    max_size
        Bytes of a string or binary at most.
    variability
        ``continuous``, ``discrete``, ``tunable`` or ``fixed``.
    max_missed
        How many data PDUs in a row an input may miss; ``None``: any number.
    steps
        Of an output: how often it is sent.
    initialization_only
        Of an output: it never changes after the initialisation.
    dependencies
        Of an output; ``None``: nothing is said.
    description
        One line for people.
    """

    name: str
    reference: int
    kind: VariableKind
    type: DcpType
    start: tuple[Scalar, ...] = ()
    dimensions: tuple[int, ...] = ()
    linked: tuple[bool, ...] = ()
    unit: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    max_size: int | None = None
    variability: str = "continuous"
    max_missed: int | None = None
    steps: StepChoice = StepChoice()
    initialization_only: bool = False
    dependencies: Dependencies | None = None
    description: str = ""

    @property
    def is_tunable(self) -> bool:
        """Whether it is a parameter that may change during a run."""
        return self.kind is VariableKind.PARAMETER and self.variability == "tunable"

    @property
    def is_settable(self) -> bool:
        """Whether CFG_parameter may set it."""
        return self.kind in {VariableKind.PARAMETER, VariableKind.STRUCTURAL}

    def beyond_limits(self, values: tuple[Scalar, ...]) -> Scalar | None:
        """Return the first value that is not between minimum and maximum."""
        low = -float("inf") if self.minimum is None else self.minimum
        high = float("inf") if self.maximum is None else self.maximum
        if self.type.is_text:
            return None
        return next((v for v in values if not low <= v <= high), None)  # type: ignore[operator]
