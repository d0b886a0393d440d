"""The table ``[ledger.NAME]`` of an experiment file: whose energy is counted, where it passes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictStr

from orchestrator.study.file.table import Table, Time

Names = StrictStr | tuple[StrictStr, ...]


class AccountTable(Table):
    """What a part of the system stores (J), loses and gives away (W or J): its outputs.

    ``dissipated = []`` says that it loses nothing; left out, the losses are what is left over.
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
