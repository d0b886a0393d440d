"""What the process of a device tells the run of an error."""

from __future__ import annotations

import errno
import traceback
from typing import Any

from orchestrator.core.diagnostics import SoftdockError, class_name
from orchestrator.core.simunits.isolation.wire import packed
from orchestrator.rig.devices import DeviceError

_ADVICE = {
    errno.EADDRINUSE: "another program has it: end that one, or choose another port",
    errno.EACCES: "a permission is missing: run it as a user who has it",
    errno.EPERM: "a permission is missing: run it as a user who has it",
    errno.ECONNREFUSED: "nothing listens there: is the device on, are address and port right?",
    errno.ENETUNREACH: "there is no route to it: is the network connected?",
    errno.EHOSTUNREACH: "there is no route to it: is the network connected?",
}


def error_text(error: BaseException) -> str:
    """Say what an error is, and what helps against those of the system."""
    if isinstance(error, SoftdockError):
        return str(error)
    if isinstance(error, OSError) and error.errno in _ADVICE:
        return f"{error.strerror}: {_ADVICE[error.errno]}"
    return f"{type(error).__name__}: {error}"


def told(error: BaseException) -> dict[str, Any]:
    """Put an error into plain data for the run."""
    trace = "".join(traceback.format_exception(error))
    if not isinstance(error, SoftdockError):
        error = DeviceError(error_text(error))
    return {"error": class_name(error), "diagnostics": packed(error), "trace": trace}
