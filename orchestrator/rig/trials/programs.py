"""The programs of a trial: emulators, the run, an operator's terminal, a second client."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from orchestrator.core.diagnostics import DeviceError
from orchestrator.core.own_process import OwnProcess
from orchestrator.rig.devices import device_class, read_settings
from orchestrator.rig.devices.conformance import EmulatorProcess
from orchestrator.rig.run.emulation import filled_argument
from orchestrator.rig.trials.trial import Trial
from orchestrator.study.file.experiment import Case
from orchestrator.study.prepare.prepared_case import EmulatorPlan

_CHILD = "orchestrator.rig.trials.child"
_DEVICE = b"orchestrator.rig.device_units.io_loop"


@contextlib.contextmanager
def emulators_of(
    trial: Trial, plans: Mapping[str, EmulatorPlan], folder: Path, priority: int
) -> Iterator[dict[str, EmulatorProcess]]:
    """Start the emulators, with their logs, and with the fault of the trial."""
    started: dict[str, EmulatorProcess] = {}
    with ExitStack() as stack:
        for name, plan in plans.items():
            places = {other: process.places for other, process in started.items()}
            given = [filled_argument(one, name, places) for one in plan.arguments]
            given += ["--log", str(folder / f"{name}.log.csv")]
            if trial.wire and trial.component == name:
                given += ["--fault" if trial.after_s else "--on-signal", trial.wire]
            started[name] = stack.enter_context(EmulatorProcess(plan.module, given))
            if priority:  # what it stands for has a processor of its own
                started[name].prefer(priority)
        yield started


@contextlib.contextmanager
def run_of(told: Mapping[str, Any], folder: Path) -> Iterator[OwnProcess]:
    """Start the run; what it says goes to ``said.txt``."""
    with (folder / "said.txt").open("wb") as said:
        process = OwnProcess(
            _CHILD,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,  # see await_begin and await_heirs
            stderr=said,
            outlives=True,  # as at a terminal of its own
        )
    process.stdin.write(json.dumps(dict(told)).encode() + b"\n")
    process.stdin.close()
    try:
        yield process
    finally:
        process.finish()


def await_begin(process: OwnProcess, limit_s: float) -> bool:
    """Wait until the devices of a run are open and it steps; return whether it does."""
    return bool(process.first_line(limit_s))  # it is empty when the run has ended


def device_process(run: int, component: str) -> int:
    """Return the number of the process that leads a device of a run; 0: there is none."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            words = (folder / "cmdline").read_bytes().split(b"\0")
            parent = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1]
            if _DEVICE in words and words[-2] == component.encode() and int(parent) == run:
                return int(folder.name)
    return 0


def fill_disk(run: int) -> None:
    """Let no process of a run write past the first 4 KiB of a file, as on a disk that is full."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            if os.getsid(int(folder.name)) == run:
                resource.prlimit(int(folder.name), resource.RLIMIT_FSIZE, (4096, 4096))


@contextlib.contextmanager
def stopped(process: int) -> Iterator[None]:
    """Let a process stand still; it goes on afterwards, if it is still there."""
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGCONT)


def await_heirs(process: OwnProcess, limit_s: float) -> None:
    """Wait until all that a run started has ended: its journal outlives it when it is killed.

    They have its standard output as theirs, which ends with the last of them.
    """
    select.select([process.stdout], [], [], limit_s)


@contextlib.contextmanager
def terminal_at(rig: str) -> Iterator[OwnProcess]:
    """Attend a rig as an operator does, in a process of its own."""
    process = OwnProcess(
        "orchestrator",
        *("supervisor", "attend", rig, "--json"),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        process.stdout.readline()  # it attends
        yield process
    finally:
        process.finish()


@contextlib.contextmanager
def second_client(
    component: str, case: Case, plans: Mapping[str, EmulatorPlan], priority: int
) -> Iterator[float]:
    """Let a second adapter and a second emulator come to the wire of a device; yield when.

    CLOCK_MONOTONIC in s: before the adapter was opened, or, if it was refused, when the emulator
    was there. ``priority`` is that of the emulators.
    """
    table = case.devices[component]
    kind = device_class(str(table.device))
    adapter = kind(read_settings(kind, table.settings, component))
    with ExitStack() as stack:
        stack.callback(adapter.close)
        came_s, is_there = time.monotonic(), False
        with contextlib.suppress(DeviceError, OSError):  # a port that is taken refuses it
            adapter.open()
            is_there = True
        plain = [one for one in plans[component].arguments if not _is_place(one)]
        with contextlib.suppress(DeviceError):
            second = stack.enter_context(EmulatorProcess(plans[component].module, plain))
            if priority:
                second.prefer(priority)
        yield came_s if is_there else time.monotonic()


def _is_place(argument: str) -> bool:
    return argument == "--link" or (argument.startswith("{") and argument.endswith("}"))
