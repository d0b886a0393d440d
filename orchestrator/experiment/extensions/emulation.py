"""Emulators that stand for devices, as long as a case runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from orchestrator.experiment.extension import Extension, Run, Steps
from orchestrator.experiment.run.emulation import emulating


class Emulation(Extension):
    """Starts the emulators of a case."""

    follows = ("supervisor",)

    @contextmanager
    def around(self, run: Run, steps: Steps) -> Iterator[Steps]:
        """Start them before devices are opened."""
        with emulating(steps.case, run.realtime):
            yield steps
