"""Connections in a row, as they become when nested systems are flattened, joined to one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from orchestrator.core.diagnostics import DescriptionError, UnitMismatchError
from orchestrator.core.system.lines.connection import Connection, Endpoint
from orchestrator.core.system.lines.delay import TransportDelay
from orchestrator.core.system.lines.transformation import (
    LinearTransformation,
    MappingTransformation,
    Transformation,
)
from orchestrator.core.system.ports.connector import Connector
from orchestrator.core.system.ports.conversion import conversion_between

Affine = tuple[float, float]
Steps = list[Affine | MappingTransformation]


def joined(
    lines: Sequence[Connection],
    connectors: Sequence[Connector | None],
    source: Endpoint,
    target: Endpoint,
) -> Connection:
    """Make one connection of those in a row.

    Parameters
    ----------
    lines
        From the source to the target, at least one.
    connectors
        Those before, between and after them, one more than lines; ``None`` where not declared.
    source, target
        Ends of the result.

    Raises
    ------
    DescriptionError
        If a delay that varies meets another delay, or units do not fit.
    """
    if len(lines) == 1:
        return replace(lines[0], source=source, target=target)
    connectors = _with_units(lines, connectors)
    where = f"connection {source} -> {target} (through {', '.join(str(c.target) for c in lines)})"
    each = [
        _steps(line, before, after, where)
        for line, before, after in zip(lines, connectors, connectors[1:], strict=False)
    ]
    busy = [i for i, line in enumerate(lines) if not _is_plain(line, each[i])]
    if len(busy) <= 1:
        number = busy[0] if busy else 0
        alone, own = lines[number], _conversion(*connectors[number : number + 2])
        if alone.suppress_unit_conversion or own == _conversion(connectors[0], connectors[-1]):
            return replace(alone, source=source, target=target)
    steps = [step for some in each for step in some]
    suppressed, transformation = _function(steps, connectors[0], connectors[-1])
    delayed = [line for line in lines if line.delay is not None]
    said = [line.extrapolation for line in lines if line.extrapolation is not None]
    made_up = [line.compensation for line in lines if line.compensation is not None]
    return Connection(
        source,
        target,
        _delay(delayed, where),
        transformation,
        delayed[-1].interpolation if delayed else None,
        said[-1] if said else None,
        suppressed,
        made_up[-1] if made_up else None,
    )


def through(
    value: float, lines: Sequence[Connection], connectors: Sequence[Connector | None]
) -> float | None:
    """Bring a value along connections in a row; ``None`` if a table has no entry for it."""
    connectors = _with_units(lines, connectors)
    for line, before, after in zip(lines, connectors, connectors[1:], strict=False):
        for step in _steps(line, before, after, f"connection {line}"):
            if isinstance(step, MappingTransformation):
                mapped = step.of(value)
                if mapped is None:
                    return None
                value = mapped
            elif step != (1.0, 0.0):
                value = step[0] * value + step[1]
    return value


def _with_units(
    lines: Sequence[Connection], connectors: Sequence[Connector | None]
) -> list[Connector | None]:
    """Give connectors on the way that say no unit the one that their signal comes in.

    SSP 2.0, 4.5.1.1: the unit of such a connector of a system is that of what it is connected with.
    """
    found = [connectors[0]]
    for line, connector in zip(lines, connectors[1:-1], strict=False):
        before = found[-1]
        says_unit = connector is None or connector.unit is not None
        if before is None or connector is None or says_unit or line.suppress_unit_conversion:
            found.append(connector)
        else:
            unit, definition = before.unit, before.unit_definition
            found.append(replace(connector, unit=unit, unit_definition=definition))
    return [*found, connectors[-1]]


def _steps(
    line: Connection, before: Connector | None, after: Connector | None, where: str
) -> Steps:
    steps: Steps = []
    if before is not None and after is not None and not line.suppress_unit_conversion:
        try:
            steps.append(conversion_between(before, after))
        except UnitMismatchError as error:
            raise UnitMismatchError(f"{where}: {error}") from None
    own = line.transformation
    if isinstance(own, LinearTransformation):
        steps.append((own.factor, own.offset))
    elif own is not None:
        steps.append(own)
    return steps


def _is_plain(line: Connection, steps: Steps) -> bool:
    """Whether a line passes its signal on as it is."""
    ways = (line.delay, line.interpolation, line.extrapolation, line.compensation)
    return ways == (None,) * 4 and all(step == (1.0, 0.0) for step in steps)


def _conversion(before: Connector | None, after: Connector | None) -> Affine | None:
    """What is done for the units of two connectors; ``None`` if they do not convert."""
    if before is None or after is None:
        return 1.0, 0.0
    try:
        return conversion_between(before, after)
    except UnitMismatchError:
        return None


def _function(
    steps: Steps, first: Connector | None, last: Connector | None
) -> tuple[bool, Transformation | None]:
    """Whether units are not to be looked at, and what is done to the value."""
    total: Affine | MappingTransformation = (1.0, 0.0)
    for step in steps:
        total = _after(step, total)
    if isinstance(total, MappingTransformation):
        return True, total
    return (
        (False, None) if total == _conversion(first, last) else (True, LinearTransformation(*total))
    )


def _after(
    step: Affine | MappingTransformation, done: Affine | MappingTransformation
) -> Affine | MappingTransformation:
    """What a step makes of that which was done before."""
    if isinstance(step, MappingTransformation):
        if isinstance(done, MappingTransformation):
            pairs = ((source, step.of(value)) for source, value in done.entries)
            return MappingTransformation(tuple((s, t) for s, t in pairs if t is not None))
        if done == (1.0, 0.0):
            return step
        factor, offset = done
        before = (((source - offset) / factor, target) for source, target in step.entries)
        return MappingTransformation(tuple((int(s), t) for s, t in before if s == int(s)))
    factor, offset = step
    if isinstance(done, MappingTransformation):
        return MappingTransformation(tuple((s, int(factor * t + offset)) for s, t in done.entries))
    return factor * done[0], factor * done[1] + offset


def _delay(delayed: Sequence[Connection], where: str) -> TransportDelay | None:
    delays = [line.delay for line in delayed if line.delay is not None]
    if len(delays) < 2:
        return delays[0] if delays else None
    if any(delay.variation for delay in delays):
        raise DescriptionError(
            f"{where}: {len(delays)} delays in a row, of which one varies; put it on one connection"
        )
    if len({line.interpolation for line in delayed}) > 1:
        raise DescriptionError(f"{where}: delays in a row are interpolated in different ways")
    provenances = {delay.provenance for delay in delays}
    provenance = delays[0].provenance if len(provenances) == 1 else min(provenances)
    return TransportDelay(sum(delay.nominal_ns for delay in delays), provenance)
