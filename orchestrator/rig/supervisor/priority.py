"""The priority of the process of a supervisor."""

from __future__ import annotations

import os

from orchestrator.core.diagnostics import DeviceError
from orchestrator.rig.supervisor.settings import SupervisorSettings


def take_priority(settings: SupervisorSettings) -> str:
    """Take the priority that is asked for; return what to know of it, empty if it was granted.

    Raises
    ------
    DeviceError
        If it is required, and not granted.
    """
    if not settings.priority:
        return ""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(settings.priority))
    except PermissionError:
        told = (
            f"the supervisor was not granted its priority {settings.priority} of SCHED_FIFO: a"
            " permission is missing (RLIMIT_RTPRIO); it may be late when the machine is busy"
        )
        if settings.require_priority:
            raise DeviceError(f"{told}; require_priority asks for it") from None
        return told
    return ""
