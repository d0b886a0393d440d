"""What elements of a row are computed by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number that all elements take: an operation by its number."""

    number: int


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The element of a row that is ``ahead`` of the one that is computed."""

    row: str
    ahead: int


@dataclass(frozen=True, slots=True)
class Computed:
    """An operation, by CasADi's code of it, on what stands in its place."""

    code: int
    operands: tuple[Formula, ...]


Formula = Scalar | Neighbour | Computed


def taken(formula: Formula) -> Iterator[Scalar | Neighbour]:
    """Everything that a formula takes."""
    if isinstance(formula, Computed):
        for operand in formula.operands:
            yield from taken(operand)
    else:
        yield formula
