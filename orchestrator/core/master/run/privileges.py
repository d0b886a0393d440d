"""What a process is granted for real time while a run goes on, and gives back after it."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.core import posix
from orchestrator.core.realtime import RealTime
from orchestrator.engine import lock_memory, unlock_memory


@dataclass(slots=True)
class Grants:
    """What was granted, by name, and what was not, in sentences; each once."""

    granted: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def grant(self, name: str) -> None:
        """Note what was granted."""
        if name not in self.granted:
            self.granted.append(name)

    def refuse(self, what: str, number: int, remedy: str) -> None:
        """Note what was not granted, by the number of the system's error."""
        sentence = f"not granted: {what} ({os.strerror(number)}); {remedy}"
        if sentence not in self.refused:
            self.refused.append(sentence)


def kernel() -> str:
    """Return name and release of the kernel, and whether it is one for real time."""
    about = os.uname()
    file = Path("/sys/kernel/realtime")
    preempt_rt = file.is_file() and file.read_text(encoding="ascii").strip() == "1"
    kind = "PREEMPT_RT" if preempt_rt else "no PREEMPT_RT"
    return f"{about.sysname} {about.release}, {kind}"


@contextmanager
def privileges(wanted: RealTime, grants: Grants, processes: Sequence[int] = ()) -> Iterator[None]:
    """Take what the system grants of what is wanted, and give it back at the end."""
    with ExitStack() as stack:
        _keep_to_cpus(wanted, grants, stack)
        _raise_priority(wanted, grants, stack, processes)
        if not wanted.collect_garbage:
            if gc.isenabled():
                gc.disable()
                stack.callback(gc.enable)
            grants.grant("no garbage")
        if wanted.lock_memory:
            _lock_memory(grants, stack)
        yield


def _keep_to_cpus(wanted: RealTime, grants: Grants, stack: ExitStack) -> None:
    if not wanted.cpus:
        return
    before = posix.processors()
    try:
        posix.keep_to(wanted.cpus)
    except OSError as error:
        cpus = ", ".join(map(str, sorted(wanted.cpus)))
        grants.refuse(f"processors {cpus}", error.errno or 0, "the run used all")
        return
    stack.callback(posix.keep_to, before)
    grants.grant("cpus")


def _raise_priority(
    wanted: RealTime, grants: Grants, stack: ExitStack, processes: Sequence[int]
) -> None:
    if wanted.priority == 0:
        return
    before = posix.scheduling()
    try:
        for process in processes:
            posix.raise_priority(process, wanted.priority + 1)
        posix.take_priority(wanted.priority)
    except OSError as error:
        remedy = "needs CAP_SYS_NICE or a limit 'rtprio' (ulimit -r)"
        grants.refuse(f"SCHED_FIFO, priority {wanted.priority}", error.errno or 0, remedy)
        return
    stack.callback(posix.put_back_scheduling, *before)
    grants.grant("priority")


def _lock_memory(grants: Grants, stack: ExitStack) -> None:
    """Lock what is in use: a step allocates nothing, and later memory could then be refused."""
    number = lock_memory()
    if number:
        remedy = "needs CAP_IPC_LOCK or a limit 'memlock' (ulimit -l) as large as the process"
        grants.refuse("memory that is not paged out", number, remedy)
        return
    stack.callback(unlock_memory)
    grants.grant("memory")
