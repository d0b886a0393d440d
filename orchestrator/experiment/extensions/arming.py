"""Margins of the loops through devices, without which nothing moves."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.experiment.extension import Extension, Run
from orchestrator.experiment.output.arming_table import arming_section
from orchestrator.experiment.prepare.prepared_case import PreparedCase
from orchestrator.experiment.run.arming import armed, expect_armed
from orchestrator.recording import Result


class ArmingOfDevices(Extension):
    """Refuses cases whose loops have too little margin."""

    follows = ("realtime", "identification")

    def begin(self, run: Run) -> None:
        """Compute them, with what was identified."""
        twins = {name: run.value(name, "identified") or () for name in run.cases}
        found = armed(run.experiment, run.cases, run.reader, run.settings, twins)
        expect_armed(found)
        for name, arming in found.items():
            run.notes[name] += arming.notes
            run.add(name, arming_section(name, arming))

    def after(self, run: Run, case: PreparedCase, result: Result) -> Result:
        """Put them into the result."""
        arming = run.value(case.name, "arming")
        return result if arming is None else replace(result, arming=arming.as_json())
