"""``[sweep.NAME]`` of an experiment file: cases that are run over axes of values."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any, Literal

from pydantic import (
    Discriminator,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    Tag,
)

from orchestrator.study.file.table import Table, Time

#: More runs than this are a mistake in the file.
MOST_RUNS = 1_000_000
#: Figures of a fault that are times.
FAULT_TIMES = ("from", "until", "delay")
AxisValue = StrictBool | StrictInt | StrictFloat | StrictStr
#: Names of axes are keys of tables and of figures, such as ``bandwidth``.
AxisName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+$", max_length=60)]


class Axis(Table):
    """What is varied together, and over which values.

    Numbers are in ``unit``, which converts to that of each parameter; what is a time is seconds, or
    text such as ``"5 ms"``. With ``scale`` they are factors of what each case has.
    ``proportional`` are parameters that change by the same factor as the first of ``set``.
    """

    label: str = ""
    unit: str | None = None
    set: tuple[StrictStr, ...] = ()
    proportional: tuple[StrictStr, ...] = ()
    delay: tuple[StrictStr, ...] = ()
    fault: tuple[StrictStr, ...] = ()
    step: bool = False
    option: StrictStr | None = None
    rate: tuple[StrictStr, ...] = ()
    scale: bool = False
    values: tuple[AxisValue, ...] | None = Field(None, min_length=1)
    first: Time | None = Field(None, alias="from")
    last: Time | None = Field(None, alias="to")
    count: int | None = Field(None, ge=1, le=MOST_RUNS)
    spacing: Literal["linear", "log"] = "linear"


class Sweep(Table):
    """Every case at every point of a design over some axes, for every seed."""

    title: str = ""
    description: str = ""
    cases: tuple[StrictStr, ...] = Field(min_length=1)
    measures: tuple[StrictStr, ...] = Field(min_length=1)
    over: dict[AxisName, Axis] = Field(min_length=1)
    seeds: StrictInt | tuple[StrictInt, ...] | None = None
    design: Literal["grid", "latin-hypercube", "random"] = "grid"
    count: int | None = Field(None, ge=1, le=MOST_RUNS)
    seed: int = Field(0, ge=0)
    stop: Time | None = None
    record: tuple[StrictStr, ...] | None = None
    every: int | None = Field(None, ge=1)


class ListedSweep(Table):
    """The short form: one case, over listed values of its step or of one or more parameters.

    It is the sweep of this case over one axis, ``value``, that :meth:`with_axes` returns.
    ``softdock run`` runs it with the cases.
    """

    case: str
    over: str | tuple[str, ...]
    values: tuple[Time, ...] = Field(min_length=1)
    measures: tuple[str, ...] = Field(min_length=1)

    @property
    def paths(self) -> tuple[str, ...]:
        """What it varies together."""
        return (self.over,) if isinstance(self.over, str) else self.over

    def with_axes(self, faults: Collection[str]) -> Sweep:
        """Return the same in the long form."""
        prefixes = {f"fault.{label}" for label in faults}
        figures = [path for path in self.paths if path.rpartition(".")[0] in prefixes]
        settable = tuple(path for path in self.paths if path != "step" and path not in figures)
        times = [path for path in figures if path.rpartition(".")[2] in FAULT_TIMES]
        is_timed = "step" in self.paths or bool(times)
        axis = Axis(
            label=", ".join(self.paths),
            unit="s" if is_timed and (settable or times != figures) else None,
            set=settable,
            fault=tuple(path.removeprefix("fault.") for path in figures),
            step="step" in self.paths,
            values=self.values,
        )
        return Sweep(cases=(self.case,), measures=self.measures, over={"value": axis})


def _form(table: Any) -> str:
    """Tell the forms of a sweep apart: the short one has a single case."""
    listed = "case" in table if isinstance(table, dict) else isinstance(table, ListedSweep)
    return "listed" if listed else "axes"


#: Either form of a sweep.
AnySweep = Annotated[
    Annotated[ListedSweep, Tag("listed")] | Annotated[Sweep, Tag("axes")], Discriminator(_form)
]
