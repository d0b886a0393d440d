"""The supervisor of a rig, beside the runs of its cases."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from orchestrator.diagnostics import NeverEngagedError
from orchestrator.experiment.extension import Extension, Run, Steps
from orchestrator.experiment.output.states_table import states_section
from orchestrator.experiment.output.tracking_files import tracking_section
from orchestrator.experiment.prepare.prepared_case import PreparedCase
from orchestrator.experiment.prepare.simulate import FailedRunError, InterruptedRun
from orchestrator.experiment.run.supervision import Findings, states_of, supervising, tracks_of
from orchestrator.recording import Result


class Supervision(Extension):
    """Watches the devices of a case, and says what became of them."""

    follows = ("arming",)

    @contextmanager
    def around(self, run: Run, steps: Steps) -> Iterator[Steps]:
        """Start it before devices are opened."""
        case, settings = steps.case, run.experiment.supervisor
        name = case.name
        found = Findings(run.value(name, "identified") or (), run.value(name, "arming"))
        try:
            with supervising(case, settings, run.output, run.remarks[name], found) as (one, ends):
                yield Steps(one, ends.begin, ends.end)
        except FailedRunError as failure:
            if isinstance(failure.__cause__, NeverEngagedError):
                raise NeverEngagedError(str(failure)) from failure
            if never := self._never_engaged(run, case):
                raise NeverEngagedError(f"case '{name}': {never}") from failure
            raise
        except InterruptedRun as interruption:
            if never := self._never_engaged(run, case):
                interruption.args = (f"{interruption}; {never}",)
            raise
        if never := self._never_engaged(run, case):
            run.remarks[name].append(never)

    def after(self, run: Run, case: PreparedCase, result: Result) -> Result:
        """Say which states the rig went through, and what was tracked."""
        settings = run.experiment.supervisor
        states = states_of(run.output, case, settings)
        if states is not None:
            run.add(case.name, states_section(case.name, states))
            if not states.engaged:
                run.outcome.never_engaged.append(case.name)
        if tracks := tracks_of(run.output, case, settings):
            run.add(case.name, tracking_section(case.name, tracks))
        return result

    def _never_engaged(self, run: Run, case: PreparedCase) -> str:
        """Say that a rig was watched and never engaged; empty if that is not so."""
        states = states_of(run.output, case, run.experiment.supervisor)
        return states.never_engaged if states is not None else ""
