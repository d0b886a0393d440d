"""A system as it is run: resolved, flat, closed and checked, with what was decided for it."""

from __future__ import annotations

from orchestrator.core.coupling import DelayMode
from orchestrator.core.diagnostics import UnknownNameError
from orchestrator.core.simunits import expect_flawless, flaw_notes, isolate, resolve
from orchestrator.core.system import System, kept_notes, with_starts


def prepared(system: System, mode: DelayMode, *, strict: bool) -> tuple[System, list[str]]:
    """Return a system as it is run, checked, and what was chosen for it, in sentences."""
    if strict:
        expect_flawless(system)
    flat, kept = with_starts(resolve(system).flat())
    closed = flat.closed()
    if mode is DelayMode.PLAIN:
        closed = closed.without_zero_delays()  # nothing to take a step's own delay off
    prepared, isolated = isolate(closed.check(algebraic_loops=True))
    return prepared, [*flaw_notes(prepared), *kept_notes(kept), *isolated]


def mode_of(delay: DelayMode | str) -> DelayMode:
    """Return a delay mode by its name.

    Raises
    ------
    UnknownNameError
        If there is none of that name.
    """
    try:
        return DelayMode(delay)
    except ValueError:
        raise UnknownNameError(
            f"delay mode: expected one of {', '.join(DelayMode)}, found '{delay}'"
        ) from None
