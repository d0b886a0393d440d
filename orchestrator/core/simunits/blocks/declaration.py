"""How the connectors and states of Python blocks are declared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.system import Causality, Connector, DataType
from orchestrator.core.system.ports.limits import Limits

_TYPES = {
    float: DataType.REAL,
    int: DataType.INTEGER,
    bool: DataType.BOOLEAN,
    str: DataType.STRING,
    bytes: DataType.BINARY,
}


@dataclass(frozen=True, slots=True)
class Declared:
    """What ``Input(...)`` and its like leave in the class until it is complete."""

    causality: Causality | None  # None: a state
    unit: str | None
    shape: tuple[int, ...]
    description: str
    start: Any
    depends_on: tuple[str, ...] | None = None
    limits: Limits | None = None
    tunable: bool = False


def Input(  # noqa: N802 - reads as a declaration
    *,
    unit: str | None = None,
    description: str = "",
    shape: tuple[int, ...] = (),
    start: Any = 0.0,
) -> Any:
    """Declare an input: ``position: float = Input(unit="m", description="..")``."""
    return Declared(Causality.INPUT, unit, shape, description, start)


def Output(  # noqa: N802
    *,
    unit: str | None = None,
    description: str = "",
    shape: tuple[int, ...] = (),
    start: Any = 0.0,
    depends_on: tuple[str, ...] | None = None,
) -> Any:
    """Declare an output.

    ``depends_on`` names the inputs that act on it at once (direct feed-through); ``None`` means
    all of them, ``()`` none.
    """
    return Declared(Causality.OUTPUT, unit, shape, description, start, depends_on)


def Parameter(  # noqa: N802
    *,
    unit: str | None = None,
    description: str = "",
    start: Any,
    shape: tuple[int, ...] = (),
    minimum: float | None = None,
    maximum: float | None = None,
    above: float | None = None,
    below: float | None = None,
    tunable: bool = False,
) -> Any:
    """Declare a parameter with its default; it does not change while the block runs.

    A ``tunable`` one may: it is set between two steps, so ``step`` must use it as it is then.

    ``minimum`` and ``maximum`` are the ends of its range, ``above`` and ``below`` those that are
    just not in it. A value beyond is refused before the run; modelDescription.xml has it as well.
    """
    limits = Limits.of(minimum, maximum, above, below)
    return Declared(
        Causality.PARAMETER, unit, shape, description, start, limits=limits, tunable=tunable
    )


def State(  # noqa: N802
    *, start: Any, description: str = ""
) -> Any:
    """Declare a state: what the block remembers from step to step, saved and restored with it."""
    return Declared(None, None, (), description, start)


def connector_of(block: str, name: str, item: Declared, annotated: object) -> Connector:
    """Make the connector that a class attribute declares."""
    kind = _TYPES.get(annotated) if isinstance(annotated, type) else None
    if item.shape and (kind is None or not kind.is_text):
        kind = DataType.REAL
    if item.causality is None or kind is None or (item.shape and kind.is_text):
        raise DescriptionError(
            f"block {block}.{name}: annotated {annotated}; expected float, int,"
            " bool, str or bytes, or a shape for an array of float"
        )
    start = _array_start(item) if item.shape else _typed(kind, item.start)
    connector = Connector(
        name,
        item.causality,
        kind,
        item.unit,
        item.shape,
        item.description,
        start,
        limits=item.limits,
    )
    if (refusal := connector.refusal(start)) is not None:
        raise DescriptionError(f"block {block}: {name}: its default: {refusal}")
    return connector


def _typed(kind: DataType, start: Any) -> Any:
    if kind.is_text:  # a text has no zero to start from but the empty one
        return start or ("" if kind is DataType.STRING else b"")
    if kind is DataType.BOOLEAN:
        return bool(start)
    return int(start) if kind is DataType.INTEGER else float(start)


def _array_start(item: Declared) -> tuple[float, ...]:
    filled = np.broadcast_to(np.asarray(item.start, dtype=np.float64), item.shape)
    return tuple(filled.ravel().tolist())
