"""Emulators that live as long as a case runs."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from orchestrator.core.diagnostics import DeviceError
from orchestrator.study import Extension, Run, Steps
from orchestrator.study.prepare.prepared_case import PreparedCase

if TYPE_CHECKING:
    from orchestrator.core.realtime import RealTime
    from orchestrator.rig.devices.conformance import EmulatorProcess

_LOG = logging.getLogger(__name__)
_PLACE = re.compile(r"\{([^{}.]+)\.([^{}.]+)\}")


@contextmanager
def emulating(case: PreparedCase, realtime: RealTime | None) -> Iterator[None]:
    """Start the emulators of a case, and end them whatever happens, even to this process.

    Beside a run in real time they have its priority, where that is granted: what they stand for has
    a processor of its own.
    """
    started: dict[str, EmulatorProcess] = {}
    from orchestrator.rig.devices.conformance import EmulatorProcess

    with ExitStack() as stack:
        for name, plan in case.emulators.items():
            places = {other: process.places for other, process in started.items()}
            arguments = [filled_argument(argument, name, places) for argument in plan.arguments]
            started[name] = stack.enter_context(EmulatorProcess(plan.module, arguments))
            if realtime is not None and realtime.priority:
                started[name].prefer(realtime.priority)
        try:
            yield
        finally:
            for name, process in started.items():
                if not process.is_running:
                    process.stop()
                    why = process.said or f"exit code {process.stop()}"
                    _LOG.warning("the emulator of '%s' ended before the run: %s", name, why)


def filled_argument(argument: str, name: str, places: Mapping[str, Mapping[str, Any]]) -> str:
    """Put into an argument where emulators that were started before can be reached."""

    def found(place: re.Match[str]) -> str:
        owner, key = place.groups()
        if key not in places.get(owner, {}):
            known = [f"{{{one}.{each}}}" for one, some in places.items() for each in some]
            raise DeviceError(
                f"emulators.{name}: nothing before it can be reached as '{place[0]}'; expected one"
                f" of {', '.join(known) or 'none: it is the first'}"
            )
        where = places[owner][key]
        return where if isinstance(where, str) else ":".join(map(str, where))

    return _PLACE.sub(found, argument)


class Emulation(Extension):
    """Starts the emulators of a case."""

    follows = ("supervisor",)

    @contextmanager
    def around(self, run: Run, steps: Steps) -> Iterator[Steps]:
        """Start them before devices are opened."""
        with emulating(steps.case, run.realtime):
            yield steps
