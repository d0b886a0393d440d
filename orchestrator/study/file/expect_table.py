"""The tables ``[expect.NAME]`` of an experiment file: what is expected of measures and signals."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Self

from pydantic import Field, StrictBool, StrictStr, field_validator, model_validator
from pydantic_core import PydanticCustomError

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.study.file.table import Table, Time

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_STATEMENT = re.compile(
    rf"(?P<name>\S.*?)\s*(?P<relation><=|>=|<|>|\bwithin\b)\s*(?P<value>{_NUMBER})"
    rf"(?:\s+(?P<unit>(?!of\b)\S+))?(?:\s+of\s+(?P<centre>{_NUMBER})(?:\s+(?P<at>\S+))?)?"
)
Names = StrictStr | tuple[StrictStr, ...]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit; ``None``: it was given none."""

    value: float
    unit: str | None


@dataclass(frozen=True, slots=True)
class Statement:
    """What is said of a name: ``"contact.force < 50 N"``, ``"speed within 1 mm/s of 3 cm/s"``.

    ``relation`` is ``<``, ``<=``, ``>``, ``>=`` or ``within``; ``centre`` what it is within of.
    """

    name: str
    relation: str
    bound: Quantity
    centre: Quantity | None = None


def statement_of(text: str) -> Statement:
    """Read a statement."""
    found = _STATEMENT.fullmatch(text.strip())
    if found is None or (found["centre"] and found["relation"] != "within"):
        raise DescriptionError(
            f"'{text}': expected a name, a bound and its unit, such as 'peak_force < 50 N' or"
            " 'peak_force within 0.5 N of 44 N'"
        )
    bound = Quantity(float(found["value"]), found["unit"])
    centre = Quantity(float(found["centre"]), found["at"]) if found["centre"] else None
    if found["relation"] == "within" and bound.value < 0.0:
        raise DescriptionError(f"'{text}': expected a distance >= 0 behind 'within'")
    return Statement(found["name"], found["relation"], bound, centre)


def _tuple(names: Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else names


class Expectation(Table):
    """What is expected of measures, or of signals in all rows of a window.

    Without cases and sweeps it is expected of every case. The window of a signal reaches ``from``
    a time, or the first row ``after`` something holds, and ``settles`` later, ``until`` a time.
    ``reference`` is a file of signals whose column of that name it is to stay ``within`` of.
    """

    that: StrictStr | Annotated[tuple[StrictStr, ...], Field(min_length=1)]
    case: Names = ()
    sweep: Names = ()
    requirement: StrictStr = ""
    begin: Time | None = Field(None, alias="from")
    until: Time | None = None
    after: StrictStr | None = None
    settles: Time | None = None
    reference: StrictStr | None = None
    stop: StrictBool = False

    @field_validator("that", "after")
    @classmethod
    def _stated(cls, texts: Names | None) -> Names | None:
        for text in _tuple(texts or ()):
            try:
                statement_of(text)
            except DescriptionError as error:
                raise PydanticCustomError("statement", "{said}", {"said": str(error)}) from None
        return texts

    @model_validator(mode="after")
    def _whole(self) -> Self:
        for text in self.statements:
            said = statement_of(text)
            whole = said.centre is not None or said.relation != "within"
            if (self.reference is not None) == whole:
                raise PydanticCustomError(
                    "reference",
                    "{said}",
                    {
                        "said": f"'{text}': expected 'within DISTANCE of VALUE', or 'within"
                        " DISTANCE' beside a 'reference'"
                    },
                )
        return self

    @property
    def statements(self) -> tuple[str, ...]:
        """What it says, one by one."""
        return _tuple(self.that)

    @property
    def cases(self) -> tuple[str, ...]:
        """Names of the cases that it names."""
        return _tuple(self.case)

    @property
    def sweeps(self) -> tuple[str, ...]:
        """Names of the sweeps that it names."""
        return _tuple(self.sweep)
