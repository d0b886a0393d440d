"""What a connection makes of a value on its way: a line, or a table."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from orchestrator.core.diagnostics import DescriptionError


@dataclass(frozen=True, slots=True)
class LinearTransformation:
    """``target = factor * source + offset``, applied after the unit conversion (SSP 1.0, 5.3.2).

    Raises
    ------
    DescriptionError
        If factor or offset is infinite or no number.
    """

    factor: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        if not (isfinite(self.factor) and isfinite(self.offset)):
            raise DescriptionError(
                f"factor and offset: expected finite numbers, found {self.factor} and {self.offset}"
            )


@dataclass(frozen=True, slots=True)
class MappingTransformation:
    """A table from values of the source to values of the target.

    For Booleans (0 and 1), Integers and enumerations (the numbers of their items). A value that is
    not in the table is an error of the step.

    Parameters
    ----------
    entries
        Pairs of a source's value and the target's, each source at most once.

    Raises
    ------
    DescriptionError
        If there is no entry, or a source stands in it twice.
    """

    entries: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        sources = [source for source, _ in self.entries]
        twice = sorted({source for source in sources if sources.count(source) > 1})
        if twice or not sources:
            found = f"{', '.join(map(str, twice))} more than once" if twice else "no entry"
            raise DescriptionError(f"mapping: expected every source value once, found {found}")

    def of(self, value: float) -> int | None:
        """Return the target's value; ``None`` if the table has none."""
        return dict(self.entries).get(int(value)) if value == int(value) else None


Transformation = LinearTransformation | MappingTransformation
