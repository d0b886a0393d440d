"""Names of reasons, as tables of a rig have them."""

from __future__ import annotations

from pydantic_core import PydanticCustomError

from orchestrator.core.diagnostics import Reason, nearest

#: As they are written in ``reactions``.
REASON_NAMES = {reason.name.lower(): reason for reason in Reason if reason is not Reason.OPERATION}


def expect_reason(name: str) -> None:
    """Raise PydanticCustomError if a reason has not this name."""
    if name not in REASON_NAMES:
        raise PydanticCustomError(
            "reason",
            "no reason '{name}'{near}; known: {known}",
            {
                "name": name,
                "near": nearest(name, REASON_NAMES),
                "known": ", ".join(REASON_NAMES),
            },
        )
