"""The supervisor of a device that is excited alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from orchestrator.rig.run.supervision import supervising
from orchestrator.rig.supervisor.settings import SupervisorSettings
from orchestrator.study.prepare.prepared_case import PreparedCase

Table = TypeVar("Table")


@contextmanager
def watched_device(
    case: PreparedCase, device: str, settings: SupervisorSettings | None, folder: Path
) -> Iterator[PreparedCase]:
    """Let the supervisor of a rig watch one of its devices, as far as that is its own business.

    Limits of its command and of what it measures, its health and its way to rest are those of the
    rig; what needs other devices, or a loop, is left out. It is armed by itself, and at once: it is
    excited because somebody asked for it, and from rest.
    """
    own = None if settings is None else _alone(settings, device)
    remarks: list[str] = []
    with supervising(case, own, folder, remarks, devices=[device]) as watched:
        yield watched.case


def _alone(settings: SupervisorSettings, device: str) -> SupervisorSettings:
    signals = {
        name: limits
        for name, limits in _of(settings.signals, device).items()
        if limits.against is None or limits.against.partition(".")[0] == device
    }
    changes = {
        "arm": "automatic",
        "blend": "0 s",
        "after_fault": "stop",
        "commands": _of(settings.commands, device),
        "signals": signals,
        "devices": _of(settings.devices, device),
        "energy": {},
        "tracking": {},
    }
    return settings.model_copy(update=changes)


def _of(tables: Mapping[str, Table], device: str) -> dict[str, Table]:
    return {name: table for name, table in tables.items() if name.partition(".")[0] == device}
