"""How the modes of a system move with one quantity: a root locus, exact and as sampled."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import LinearTransformation, TransportDelay, nanoseconds
from orchestrator.core.system.time import step_length
from orchestrator.loops.loop_account import LoopAccount
from orchestrator.loops.loop_transfer import find_line

if TYPE_CHECKING:
    from orchestrator.loops.run_account import LinearSystem

#: Quantities besides parameters that can be swept; all but the step belong to a line.
KINDS = ("delay", "gain", "step")


class SweepPoint(Struct):
    """The modes of a system at one value.

    Parameters
    ----------
    value
        In seconds (delay, step), a factor (gain), or in the unit of a parameter.
    accounts
        Of all loops.
    """

    value: float
    accounts: tuple[LoopAccount, ...]

    @property
    def sampled_root(self) -> complex | None:
        """Root of the fastest growing mode as sampled, 1/s; ``None`` without modes."""
        roots = [mode.sampled for account in self.accounts for mode in account.modes]
        return max(roots, key=lambda root: root.real, default=None)

    @property
    def exact_root(self) -> complex | None:
        """The same of the continuous loops; ``None`` where one of them is not known."""
        roots = [mode.exact for account in self.accounts for mode in account.modes]
        finite = [root for root in roots if root is not None]
        if len(finite) < len(roots):
            return None
        return max(finite, key=lambda root: root.real, default=None)

    @property
    def sampled(self) -> float:
        """Growth rate of the fastest growing mode as sampled, 1/s; NaN without modes."""
        return math.nan if self.sampled_root is None else self.sampled_root.real

    @property
    def exact(self) -> float:
        """Growth rate of the fastest growing mode of the continuous loops, 1/s; NaN if unknown."""
        return math.nan if self.exact_root is None else self.exact_root.real


def swept(
    linear: LinearSystem,
    kind: str,
    values: Sequence[float],
    *,
    line: str | None = None,
    progress: Callable[[], None] | None = None,
) -> list[SweepPoint]:
    """Account for the loops at each value of one quantity, about one operating point.

    Parameters
    ----------
    linear
        The system, linearised once.
    kind
        ``delay`` or ``gain`` of a line, the communication ``step``, or a parameter,
        ``component.parameter``, the system is linearised again with each of its values.
    values
        Seconds, factors of the gain, or of the parameter in its own unit.
    line
        ``component.output -> component.input``, or the input alone.
    progress
        Called after each value.

    Raises
    ------
    DescriptionError
        If there is no such quantity or line, or a value is out of range.
    """
    changed = changer(linear, kind, line)
    points = []
    for value in values:
        points.append(SweepPoint(value, tuple(changed(value).loop_accounts())))
        if progress is not None:
            progress()
    return points


def changer(linear: LinearSystem, kind: str, line: str | None) -> Callable[[float], LinearSystem]:
    """Return what gives the system another value of one quantity; see :func:`swept`."""
    if kind == "step":
        return lambda value: replace(linear, step_ns=step_length(value, "step"))
    if "." in kind:
        return lambda value: linear.with_value(kind, value)
    if kind not in KINDS:
        raise DescriptionError(
            f"sweep: expected component.parameter or one of {', '.join(KINDS)}, found '{kind}'"
        )
    if line is None:
        raise DescriptionError(f"sweep of a {kind}: name the connection")
    own_line = find_line(linear.system, line)
    lines = linear.system.connections
    index = lines.index(own_line)

    def changed(value: float) -> LinearSystem:
        if kind == "gain":
            gain = (
                LinearTransformation()
                if own_line.transformation is None
                else own_line.transformation
            )
            if not isinstance(gain, LinearTransformation):
                raise DescriptionError(
                    f"connection {own_line} has a table of values: it has no gain"
                )
            gain = LinearTransformation(value * gain.factor, value * gain.offset)
            new = replace(own_line, transformation=gain)
        elif value:
            new = replace(own_line, delay=TransportDelay(nanoseconds(value, "delay")))
        else:
            new = replace(own_line, delay=None, interpolation=None)
        connections = (*lines[:index], new, *lines[index + 1 :])
        return replace(linear, system=replace(linear.system, connections=connections))

    return changed
