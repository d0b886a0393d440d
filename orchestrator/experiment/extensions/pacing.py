"""Runs in real time: what they are kept to, and how they kept to it."""

from __future__ import annotations

from orchestrator.experiment.extension import Extension, Run
from orchestrator.experiment.output.timing_files import overruns_section, timing_section
from orchestrator.experiment.prepare.prepared_case import PreparedCase
from orchestrator.experiment.run.pace import expect_paced, realtime_of
from orchestrator.recording import Result


class Pacing(Extension):
    """Keeps cases to real time, and refuses devices in runs that are not."""

    def begin(self, run: Run) -> None:
        """Complete what the experiment and the command say."""
        run.realtime = realtime_of(run.experiment, run.settings, run.cases)
        expect_paced(run.cases, run.realtime)
        if run.realtime is not None and (run.experiment.sweep or run.settings.verify):
            for notes in run.notes.values():
                notes.append("sweeps and finer runs are not kept to real time")

    def after(self, run: Run, case: PreparedCase, result: Result) -> Result:
        """Say how the steps kept to it."""
        if result.timing is not None:
            run.add(case.name, timing_section(case.name, result.timing))
            if result.timing.overruns:
                run.add(case.name, overruns_section(case.name, result.timing))
        return result
