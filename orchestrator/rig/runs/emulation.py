"""Devices and emulators in the place of components, and emulators that live as long as a case."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from pydantic import ConfigDict, StrictBool, StrictFloat, StrictInt, StrictStr

from orchestrator.core.diagnostics import DescriptionError, DeviceError, choices_for
from orchestrator.core.diagnostics.validation import Table
from orchestrator.core.realtime import RealTime
from orchestrator.core.system import Source, SourceKind, System
from orchestrator.rig.devices.conformance import EmulatorProcess, Wiring, bench_of
from orchestrator.rig.devices.registry import read_address, write_address
from orchestrator.study import Experiment, Extension, Run, Steps, swap_component
from orchestrator.study.experiment import Case
from orchestrator.study.prepare.prepared_case import EmulatorPlan, PreparedCase
from orchestrator.study.tables import DeviceTable

_LOG = logging.getLogger(__name__)
_PLACE = re.compile(r"\{([^{}.]+)\.([^{}.]+)\}")

_Option = StrictBool | StrictInt | StrictFloat | StrictStr


class EmulatorTable(Table):
    """Options of an emulator, ``--KEY VALUE`` each; which there are, the emulator says.

    A key that is ``true`` stands alone, one that is ``false`` is left out. ``"{NAME.PLACE}"`` in a
    text is where the emulator ``NAME``, which stands before it, can be reached under ``PLACE``.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, _Option]

    @property
    def options(self) -> dict[str, bool | int | float | str]:
        """All keys as they are written."""
        return dict(self.__pydantic_extra__ or {})


@contextmanager
def started_emulators(
    plans: Mapping[str, EmulatorPlan], priority: int, more: Mapping[str, Sequence[str]]
) -> Iterator[dict[str, EmulatorProcess]]:
    """Start emulators, with more arguments for some, and end them whatever happens.

    They have a priority of SCHED_FIFO, 0 for none, where that is granted: what they stand for has a
    processor of its own.
    """
    started: dict[str, EmulatorProcess] = {}
    with ExitStack() as stack:
        for name, plan in plans.items():
            locations = {started_name: process.places for started_name, process in started.items()}
            arguments = [filled_argument(argument, name, locations) for argument in plan.arguments]
            arguments += more.get(name, ())
            started[name] = stack.enter_context(EmulatorProcess(plan.module, arguments))
            if priority:
                started[name].prefer(priority)
        yield started


@contextmanager
def emulating(case: PreparedCase, realtime: RealTime | None) -> Iterator[None]:
    """Start the emulators of a case; next to a run in real time, with its priority."""
    priority = realtime.priority if realtime is not None else 0
    with started_emulators(case.emulators, priority, {}) as started:
        try:
            yield
        finally:
            for name, process in started.items():
                if not process.is_running:
                    process.stop()
                    reason = process.said or f"exit code {process.stop()}"
                    _LOG.warning("the emulator of '%s' ended before the run: %s", name, reason)


def filled_argument(argument: str, name: str, locations: Mapping[str, Mapping[str, Any]]) -> str:
    """Put into an argument where emulators that were started before can be reached."""

    def replacement(match: re.Match[str]) -> str:
        owner, key = match.groups()
        if key not in locations.get(owner, {}):
            placeholders = [
                f"{{{emulator}.{key_name}}}"
                for emulator, some in locations.items()
                for key_name in some
            ]
            raise DeviceError(
                f"emulators.{name}: no earlier emulator can be reached as '{match[0]}'; expected"
                f" one of {', '.join(placeholders) or 'none, since it is the first'}"
            )
        location = locations[owner][key]
        return location if isinstance(location, str) else ":".join(map(str, location))

    return _PLACE.sub(replacement, argument)


class Emulation(Extension):
    """Starts the emulators of a case."""

    follows = ("supervisor",)

    @contextmanager
    def around(self, run: Run, steps: Steps) -> Iterator[Steps]:
        """Start them before devices are opened."""
        with emulating(steps.case, run.realtime):
            yield steps


def with_emulators(
    experiment: Experiment,
    name: str,
    case: Case,
    wirings: Mapping[str, Wiring] | None = None,
) -> tuple[Case, dict[str, EmulatorPlan]]:
    """Plan the emulators of a case, on free ports, and tell its devices where they are.

    ``wirings`` has those of components with a relay before their device, which the device must
    find. Of others, what the file says of addresses and ports wins.
    """
    strangers = [
        f"case '{name}': emulators.{component}: expected a device of the case"
        f"{choices_for(component, case.devices, 'device')}"
        for component in case.emulators
        if component not in case.devices
    ]
    if strangers:
        raise DescriptionError(*strangers)
    components = [name for name in experiment.emulators | case.emulators if name in case.devices]
    if not components:
        return case, {}
    devices, plans = dict(case.devices), {}
    for component in components:
        kind = devices[component].device
        if kind is None:
            raise DescriptionError(
                f"case '{name}': devices.{component}: missing key 'device', since an emulator"
                " replaces it"
            )
        bench = bench_of(kind)
        wiring = (wirings or {}).get(component) or bench.wiring()
        tables = experiment.emulators.get(component), case.emulators.get(component)
        options = {key: value for table in tables if table for key, value in table.options.items()}
        plans[component] = EmulatorPlan(bench.emulator, (*wiring.arguments, *_arguments(options)))
        settings = {**wiring.settings, **devices[component].settings}
        if wiring.relay is not None:
            settings |= {key: wiring.settings[key] for key in wiring.relay.settings}
        devices[component] = DeviceTable(device=kind, **settings)
    return case.model_copy(update={"devices": devices}), plans


def _arguments(options: Mapping[str, object]) -> Iterator[str]:
    for key, value in options.items():
        if value is False:
            continue
        yield f"--{key}"
        if value is not True:
            yield str(value)


def with_device(system: System, name: str, table: DeviceTable) -> System:
    """Put a device in the place of a component, or give the device that is there other settings."""
    old = system.component(name).source
    device = table.device
    settings: dict[str, Any] = {}
    if device is None:
        if old.kind is not SourceKind.DEVICE:
            raise DescriptionError(
                f"devices.{name}: missing key 'device', since component '{name}' ({old.short}) is"
                " none yet"
            )
        device, settings = read_address(old.location)
    try:
        location = write_address(device, {**settings, **table.settings})
    except TypeError as error:
        raise DescriptionError(
            f"devices.{name}: expected numbers, texts, truth values, and lists and tables of them:"
            f" {error}"
        ) from None
    return swap_component(system, name, Source(SourceKind.DEVICE, location))
