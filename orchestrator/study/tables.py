"""Tables that few experiment files have: devices, ledgers, real time, rest, expectations."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import (
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.diagnostics.validation import Table, Time
from orchestrator.core.realtime import RealTime
from orchestrator.core.structs import Struct
from orchestrator.core.system import nanoseconds


class DeviceTable(Table):
    """A device and its settings; which settings there are, its adapter says.

    Without ``device`` the component is one already, and some of its settings are other ones.
    """

    model_config = ConfigDict(extra="allow")

    device: StrictStr | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """All keys but ``device``, as they are written."""
        return dict(self.model_extra or {})


Names = StrictStr | tuple[StrictStr, ...]


class AccountTable(Table):
    """What a part of the system stores (J), loses and gives away (W or J): its outputs.

    ``dissipated = []`` says that it loses nothing; left out, the losses are the remainder.
    """

    stored: Names = ()
    dissipated: Names | None = None
    given: Names = ()


class MotionTable(Table):
    """Efforts, and what they act on; inputs are those of a component, or outputs elsewhere."""

    effort: Names = ()
    flow: Names = ()
    displacement: Names = ()
    arm: StrictStr = ""


class PortTable(MotionTable):
    """Where energy passes into an account; without one, from outside into an interface.

    ``only_with`` names a component that a case's system must have for the port to count.
    """

    effort: Names
    only_with: StrictStr = ""
    account: StrictStr = ""
    positive: Literal["in", "out"] = "in"


class StageTable(MotionTable):
    """What lies on the way of an interface; ``only_with`` as of ports."""

    name: StrictStr
    only_with: StrictStr = ""


class InterfaceTable(Table):
    """What lies between two ports and should pass all energy on."""

    begin: StrictStr = Field(alias="from")
    to: StrictStr
    stages: tuple[StageTable, ...] = ()
    rest: StrictStr = "hold"
    sources: tuple[StrictStr, ...] = ()


class LedgerTable(Table):
    """Whose energy is counted in some cases; if it says nothing else, what the connections say.

    ``tolerance`` is the share of the largest entry that may be missing from the balance, ``window``
    the time over which the stability indicator looks back; without one there is no indicator.
    """

    cases: tuple[StrictStr, ...] = Field(min_length=1)
    tolerance: Annotated[float, Field(gt=0, lt=1)] = 0.005
    window: Time | None = None
    account: dict[str, AccountTable] = Field({})
    port: dict[str, PortTable] = Field({})
    interface: dict[str, InterfaceTable] = Field({})


class RealTimeTable(Table):
    """How cases are kept to real time; see :class:`~orchestrator.RealTime`."""

    factor: StrictInt | StrictFloat = 1.0
    clock: StrictStr | None = None
    policy: StrictStr = "catch_up"
    overruns: StrictInt = 1
    budget: Time | None = None
    budgets: dict[str, Time] = Field({})
    priority: StrictInt = 80
    cpus: tuple[StrictInt, ...] = ()
    lock_memory: StrictBool = True
    collect_garbage: StrictBool = False
    wine: StrictBool = False

    @model_validator(mode="after")
    def _complete(self) -> Self:
        try:
            self.settings()
        except DescriptionError as error:
            raise PydanticCustomError("realtime", "{text}", {"text": str(error)}) from error
        return self

    def settings(self, factor: float | None = None) -> RealTime:
        """Return the settings, with another factor if one is given."""
        fields = dict(self)
        return RealTime(**fields if factor is None else {**fields, "factor": factor})


class TuningTable(Table):
    """The ends of a range, in the connector's own unit; of a delay seconds, or text."""

    minimum: Time | None = None
    maximum: Time | None = None


class RestTable(Table):
    """The value of an input at rest, and how it goes there.

    From the step on in which the output ``valid`` of ``device`` is 0, having been 1, the input goes
    from what it was to ``value``, in its unit, evenly within the time ``within``, and stays there.
    Without ``device`` it is the only one of the case.
    """

    value: Annotated[float, Field(allow_inf_nan=False)] = 0.0
    within: Time = "100 ms"
    device: StrictStr | None = None

    @property
    def seconds(self) -> float:
        """The time ``within``, s."""
        return nanoseconds(self.within, "rest.within") * 1e-9

    @model_validator(mode="after")
    def _positive(self) -> Self:
        try:
            duration = self.seconds
        except DescriptionError as error:
            raise PydanticCustomError("time", "{text}", {"text": str(error)}) from error
        if not duration > 0.0:
            raise PydanticCustomError("time", "within: expected a time > 0")
        return self


_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_STATEMENT = re.compile(
    rf"(?P<name>\S.*?)\s*(?P<relation><=|>=|<|>|\bwithin\b)\s*(?P<value>{_NUMBER})"
    rf"(?:\s+(?P<unit>(?!of\b)\S+))?(?:\s+of\s+(?P<centre>{_NUMBER})(?:\s+(?P<at>\S+))?)?"
)


class Quantity(Struct):
    """A number with its unit; ``None``: it was given none."""

    value: float
    unit: str | None


class Statement(Struct):
    """What is said of a name: ``"contact.force < 50 N"``, ``"speed within 1 mm/s of 3 cm/s"``.

    ``relation`` is ``<``, ``<=``, ``>``, ``>=`` or ``within``; ``centre`` what it is within of.
    """

    name: str
    relation: str
    bound: Quantity
    centre: Quantity | None = None


def statement_of(text: str) -> Statement:
    """Read a statement."""
    match = _STATEMENT.fullmatch(text.strip())
    if match is None or (match["centre"] and match["relation"] != "within"):
        raise DescriptionError(
            f"'{text}': expected a name, a bound and its unit, such as 'peak_force < 50 N' or"
            " 'peak_force within 0.5 N of 44 N'"
        )
    bound = Quantity(float(match["value"]), match["unit"])
    centre = Quantity(float(match["centre"]), match["at"]) if match["centre"] else None
    if match["relation"] == "within" and bound.value < 0.0:
        raise DescriptionError(f"'{text}': expected a distance >= 0 after 'within'")
    return Statement(match["name"], match["relation"], bound, centre)


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
    def _expect_reference(self) -> Self:
        for text in self.statements:
            statement = statement_of(text)
            is_absolute = statement.centre is not None or statement.relation != "within"
            if (self.reference is not None) == is_absolute:
                raise PydanticCustomError(
                    "reference",
                    "{said}",
                    {
                        "said": f"'{text}': expected 'within DISTANCE of VALUE', or 'within"
                        " DISTANCE' with a 'reference'"
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
