"""Tables of a system file, and the messages about wrong ones."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    Field,
    FiniteFloat,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
)

from orchestrator.core.diagnostics import LoadError
from orchestrator.core.diagnostics.validation import Table, Time, valid
from orchestrator.core.files.plain_data import toml_data, toml_file
from orchestrator.core.system import Causality, DataType, Variability

#: Of what is wrong with a system file by itself.
CODE = "TOM101"


class Bytes(Table):
    """A Binary value, as hexadecimal digits."""

    hex: StrictStr


Element = StrictBool | StrictInt | StrictFloat | StrictStr | Bytes
Setting = Element | tuple[Element, ...]
Names = StrictStr | tuple[StrictStr, ...]

#: An array of more is a mistake.
MOST_ELEMENTS = 1_000_000


def _extents(shape: tuple[int, ...]) -> tuple[int, ...]:
    if any(extent < 0 for extent in shape) or prod(shape) > MOST_ELEMENTS:
        raise ValueError(f"extents >= 0 of at most {MOST_ELEMENTS} elements in all")
    return shape


Shape = Annotated[tuple[StrictInt, ...], AfterValidator(_extents)]


class SystemTable(Table):
    """What a system is called."""

    name: StrictStr
    description: StrictStr = ""


class ExperimentTable(Table):
    """Default settings of a run that a system stores."""

    start: Time = 0
    stop: Time | None = None
    step: Time | None = None
    algorithm: StrictStr | None = None
    algorithm_options: dict[StrictStr, StrictBool | StrictInt | StrictFloat | StrictStr] = {}
    rates: dict[StrictStr, StrictInt] = {}
    early_return: StrictBool | None = None


class LimitsTable(Table):
    """Within which limits a value or a delay is changed while a run goes on."""

    minimum: Time | None = None
    maximum: Time | None = None


class EnumerationTable(Table):
    """Named whole numbers."""

    name: StrictStr
    items: dict[StrictStr, StrictInt]


def _not_zero(factor: float) -> float:
    if factor == 0.0:
        raise ValueError("a factor other than 0")
    return factor


class UnitTable(Table):
    """A unit in SI base units."""

    exponents: dict[Literal["kg", "m", "s", "A", "K", "mol", "cd", "rad"], StrictInt] = {}
    factor: Annotated[FiniteFloat, AfterValidator(_not_zero)] = 1.0
    offset: FiniteFloat = 0.0


class ConnectorTable(Table):
    """One port or parameter."""

    causality: Causality
    type: DataType = DataType.REAL
    unit: StrictStr | None = None
    shape: Shape = ()
    description: StrictStr = ""
    start: Setting | None = None
    variability: Variability = Variability.CONTINUOUS
    enumeration: EnumerationTable | None = None
    unit_definition: UnitTable | None = None


class PowerTable(Table):
    """Connectors that are connected as one."""

    effort: Names
    flow: Names
    displacement: Names = ()
    frame: StrictStr | None = None
    positive: Literal["in", "out"] | None = None


class ComponentTable(Table):
    """One component."""

    source: StrictStr
    values: dict[StrictStr, Setting] = {}
    options: dict[StrictStr, StrictBool | StrictInt | StrictFloat | StrictStr] = {}
    connectors: dict[StrictStr, ConnectorTable] = {}
    power: dict[StrictStr, PowerTable] = {}


class BusTable(Table):
    """Signals that systems share by the name of a dictionary."""

    dictionary: StrictStr
    connectors: dict[StrictStr, ConnectorTable] = {}


class JitterTable(Table):
    """A random part of a delay."""

    kind: StrictStr
    spread: Time
    shape: StrictFloat | StrictInt | None = None
    correlation: Time = 0


class DelayTable(Table):
    """A delay of which more is known than its length."""

    nominal: Time
    provenance: StrictStr = "assumed"
    device: StrictStr = ""
    date: StrictStr = ""
    jitter: JitterTable | None = None
    trace: StrictStr | tuple[tuple[StrictStr, StrictStr], ...] | None = None
    interpolated: StrictBool = False
    loss: StrictFloat | StrictInt = 0.0
    seed: StrictInt = 0
    delivery: StrictStr | None = None
    newest: StrictStr | None = None


class ConnectionTable(Table):
    """What stands on a connection."""

    delay: Time | DelayTable | None = None
    factor: StrictFloat | StrictInt = 1.0
    offset: StrictFloat | StrictInt = 0.0
    mapping: tuple[tuple[StrictInt, StrictInt], ...] | None = None
    interpolation: StrictStr | None = None
    extrapolation: StrictStr | None = None
    suppress_unit_conversion: StrictBool = False
    compensation: StrictStr | None = None


class Content(Table):
    """What is in a system."""

    connectors: dict[StrictStr, ConnectorTable] = {}
    values: dict[StrictStr, Setting] = {}
    power: dict[StrictStr, PowerTable] = {}
    component: dict[StrictStr, ComponentTable] = {}
    nested: dict[StrictStr, NestedTable] = {}
    bus: dict[StrictStr, BusTable] = {}
    connections: dict[StrictStr, ConnectionTable] = {}


class NestedTable(Content):
    """A nested system: written here, or in another file."""

    description: StrictStr | None = None
    include: StrictStr | None = None
    variant: StrictStr | None = None
    set: dict[StrictStr, Setting] = {}


class SystemFile(Content):
    """Everything that a system file says."""

    system: SystemTable
    experiment: ExperimentTable = Field(default_factory=ExperimentTable)
    tuning: dict[StrictStr, LimitsTable] = {}


Content.model_rebuild()


def parse(text: str, path: Path) -> dict[str, Any]:
    """Read the text of a TOML file, or raise LoadError."""
    try:
        return toml_data(text)
    except ValueError as error:
        raise LoadError.in_file(path, f"expected a TOML file: {error}") from None


def is_system_file(path: Path) -> bool:
    """Whether a TOML file holds a system: it has the table ``[system]``, and no cases."""
    content = toml_file(path)
    return isinstance(content.get("system"), dict) and "case" not in content


def validated(content: Mapping[str, Any], label: str) -> SystemFile:
    """Check the content of a system file."""
    return valid(SystemFile, content, label, CODE)
