"""The run's side of a supervisor: its start, and its regular end."""

from __future__ import annotations

import contextlib
import json
import logging
import subprocess
from collections.abc import Collection, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from orchestrator.core.diagnostics import DeviceError, NeverEngagedError
from orchestrator.core.own_process import OwnProcess
from orchestrator.rig.supervisor.rig_tracking import MarginTable
from orchestrator.rig.supervisor.settings import SupervisorSettings
from orchestrator.rig.supervisor.wire import ANSWER_S, connect_to, hear, tell

_LOG = logging.getLogger(__name__)
_MODULE = "orchestrator.rig.supervisor.process"
#: A busy machine may take so long to start an interpreter, s.
_START_S = 60.0
#: After the run devices come to rest, and rings are written, within so long, s.
_END_S = 20.0


class SupervisorClient:
    """Starts the supervisor of a rig before a run, and ends after it; used in ``with``.

    The process is no child that ends with the run: it has a session of its own.

    settings: Of the rig.
    devices: Names of all its devices.
    folder: Where it writes what it saw; it is made.
    margins: Of the loops through commands, by command, that tracking holds devices against.
    remarks: What to know of it, in sentences: a priority that was not granted, the faults it
        latched.
    Raises DeviceError: if the rig has a supervisor already, or it does not start.
    """

    def __init__(
        self,
        settings: SupervisorSettings,
        devices: Collection[str],
        folder: Path,
        margins: Mapping[str, MarginTable] | None = None,
    ) -> None:
        self._settings, self._devices, self._folder = settings, list(devices), folder
        self._margins = margins or {}
        self.remarks: list[str] = []
        self._ended = False

    def __enter__(self) -> Self:
        self._folder.mkdir(parents=True, exist_ok=True)
        for old in self._folder.glob("*.csv"):
            old.unlink()
        self._process = OwnProcess(
            _MODULE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, outlives=True
        )
        answer = self._started()
        if "error" in answer:
            self._process.end()
            raise DeviceError(f"supervisor: {answer['error']}")
        if answer["priority"]:
            self.remarks.append(str(answer["priority"]))
        self._channel = connect_to(self._settings.rig)
        tell(self._channel, {"hello": "run"})
        hear(self._channel)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()
        self._process.wait(_END_S)
        self._channel.close()
        self._process.end()

    def begin(self) -> None:
        """Wait until somebody has engaged the rig, where that is not done by itself."""
        rig = self._settings.rig
        if self._settings.arm == "automatic":
            return
        _LOG.warning(
            "rig '%s' is held, and the run waits: look at it, then arm and engage it"
            " (softdock supervisor attend %s)",
            rig,
            rig,
        )
        try:
            tell(self._channel, {"hello": "run", "begins": True})
            self._channel.settimeout(None)
            found, _ = hear(self._channel)
        except (OSError, EOFError, ValueError):
            raise NeverEngagedError(
                f"rig '{rig}' was never engaged: its supervisor ended"
            ) from None
        finally:
            self._channel.settimeout(ANSWER_S)
        if not found["follows"]:
            why = "; ".join(found["latched"]) or "the run was ended"
            raise NeverEngagedError(f"rig '{rig}' was never engaged: {why}")

    def end(self) -> None:
        """Say that the run is over, so that the devices come to rest; once."""
        if self._ended:
            return
        self._ended = True
        with contextlib.suppress(OSError, EOFError, ValueError):
            tell(self._channel, {"hello": "run", "ended": True})
            found, _ = hear(self._channel)
            self.remarks += [f"the supervisor gave an alarm: {one}" for one in found["alarms"]]
            rests = "the supervisor brought the rig to rest"
            self.remarks += [f"{rests}: {one}" for one in found["latched"]]

    def _started(self) -> dict[str, Any]:
        given = {
            "settings": self._settings.model_dump(exclude_none=True),
            "devices": self._devices,
            "folder": str(self._folder.absolute()),
            "margins": {name: table.as_json() for name, table in self._margins.items()},
        }
        self._process.stdin.write(json.dumps(given).encode() + b"\n")
        self._process.stdin.flush()
        line = self._process.first_line(_START_S)
        if not line:
            self._process.finish()
            raise DeviceError("supervisor: it did not start; see what it wrote on stderr")
        answer: dict[str, Any] = json.loads(line)
        return answer
