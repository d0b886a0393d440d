"""What an experiment and the command say of real time, together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import DescriptionError, UnknownNameError, nearest
from orchestrator.core.simunits.kinds import clock_ns
from orchestrator.study.extension import Extension, Run
from orchestrator.study.file.experiment import Experiment
from orchestrator.study.prepare.prepared_case import PreparedCase
from orchestrator.study.prepare.run_settings import RunSettings

if TYPE_CHECKING:
    from orchestrator.core.realtime import RealTime
    from orchestrator.core.recording import Result


def realtime_of(
    experiment: Experiment, settings: RunSettings, cases: Mapping[str, PreparedCase]
) -> RealTime | None:
    """Return how all cases are kept to real time; ``None``: they are not."""
    table = experiment.realtime
    if table is None and settings.realtime is None:
        return None
    from orchestrator.study.file.realtime_table import RealTimeTable

    realtime = (table or RealTimeTable()).settings(settings.realtime)
    realtime.expect_cpus()
    for case in cases.values():
        realtime.unit_budgets_ns(case.system.components)
    known = {name for case in cases.values() for name in case.system.components}
    if realtime.clock is not None and realtime.clock not in known:
        raise UnknownNameError(
            f"realtime.clock: no case has a component '{realtime.clock}'"
            f"{nearest(realtime.clock, known)}; components: {', '.join(sorted(known))}"
        )
    return realtime


def is_paced(case: PreparedCase, realtime: RealTime) -> bool:
    """Whether a case keeps to real time: where a device is the clock, if it has that device."""
    if realtime.clock is None:
        return True
    return realtime.clock in _with_clocks(case)


def expect_paced(cases: Mapping[str, PreparedCase], realtime: RealTime | None) -> None:
    """Expect that cases with devices keep to real time; devices that a run steps do not need it.

    A device goes on by its own clock: in a run that does not, a second of the run is another time
    of the device, and whatever comes out is that of no rig.
    """
    problems = []
    for name, case in cases.items():
        devices = _with_clocks(case)
        if devices and (realtime is None or not is_paced(case, realtime)):
            found = ", ".join(
                f"'{one}' ({case.system.components[one].source.short})" for one in devices
            )
            why = (
                ""
                if realtime is None
                else f": its clock would be '{realtime.clock}', no device here"
            )
            problems.append(
                f"case '{name}': expected a run in real time, since a device goes on by its own"
                f" clock: {found}; found one that is not paced{why}; give --realtime, or a table"
                f' [realtime] with clock = "{devices[0]}"'
            )
    if problems:
        raise DescriptionError(*problems)


def _with_clocks(case: PreparedCase) -> list[str]:
    """Return the components that are devices whose time goes on without the run."""
    return [name for name, one in case.system.components.items() if clock_ns(one.source)]


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
            from orchestrator.study.output.timing_files import overruns_section, timing_section

            run.add(case.name, timing_section(case.name, result.timing))
            if result.timing.overruns:
                run.add(case.name, overruns_section(case.name, result.timing))
        return result
