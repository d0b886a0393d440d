"""Delays that devices and their twins bring, against those that lines declare."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.checks.context import CheckContext
from orchestrator.core.diagnostics import DescriptionError, Diagnostic, SoftdockError
from orchestrator.core.diagnostics.errors import Code, error, warning
from orchestrator.rig.prepare.hardware import (
    ERRORS,
    OTHERWISE,
    STRANGER,
    TWICE,
    Hardware,
    on_hardware,
)

CODES: tuple[Code, ...] = (
    error(
        TWICE,
        "a delay is counted twice",
        "A component is a device or the twin of one, which brings its delay, and a line that begins"
        " at its response declares the delay of the same hardware, from when a model without one"
        " stood there. Leave on the line only what lies on it beside the device. What is set beside"
        " the swap, in the same table or later, and is shorter than the device's delay is taken"
        " for that, and so is a delay whose `device` names another one.",
    ),
    warning(
        OTHERWISE,
        "a line declares another delay than was identified",
        "A twin of the device that this line begins at stands in some case of the experiment, and"
        " the line declares a delay outside of the interval that was identified, or, where hardware"
        " makes the line, a shorter one than that of the device alone.",
    ),
    error(
        STRANGER,
        "a twin is of another device",
        "The file of the twin says of which adapter and component it is. Another adapter stands for"
        " this component in the cases of the experiment, or the twin is that of another component"
        " of the system.",
    ),
)


def check(context: CheckContext) -> Iterator[Diagnostic]:
    """Check a system that no experiment says anything of."""
    if context.flat is None:
        return
    try:
        on_hardware(context.flat, Hardware(), {})
    except DescriptionError as wrong:
        yield from (each for each in wrong.diagnostics if each.code in ERRORS)
    except SoftdockError:
        return  # a twin that cannot be read: its source has been told
