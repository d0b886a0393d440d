"""A run that browsers look at while it goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import RunEndedError
from orchestrator.core.system import SourceKind
from orchestrator.pictures.diagram import facts_of, live_diagram, nested_of
from orchestrator.pictures.live.messages import Begun, Recording, Said, Stands
from orchestrator.pictures.live.shown import loops_section
from orchestrator.pictures.live.viewing_client import Viewing
from orchestrator.study import Extension, Run, Section, Steps
from orchestrator.study.prepare.prepared_case import PreparedCase
from orchestrator.study.prepare.simulate import horizon

if TYPE_CHECKING:
    from orchestrator.core.realtime.shared_rows import SharedRows
    from orchestrator.core.recording import Result


class LiveView(Extension):
    """Shows all cases by a server in a process of its own."""

    follows = (
        "realtime", "identification", "arming", "supervisor", "emulators", "account", "ledger",
        "verify", "sweep", "expect", "animation",
    )  # fmt: skip
    _viewing: Viewing
    _loops: Section
    _stands = False

    def begin(self, run: Run) -> None:
        """Start the server."""
        self._viewing = Viewing(run.settings.live or "", run.experiment.title)
        run.announce(f"live: {self._viewing.url}")

    @contextmanager
    def around(self, run: Run, steps: Steps) -> Iterator[Steps]:
        """Show a case before its devices are opened, and its rows as they are recorded."""
        case, options = steps.case, steps.case.options
        facts, _ = facts_of(case.system, options)
        nested = nested_of(case.case, run.reader.read(case.case), case.system, run.settings.values)
        diagram = live_diagram(nested, facts, case.name)
        title = case.case.title or case.name
        self._loops = loops_section(facts.loops)
        has_devices = _has_devices(case)
        rig = run.experiment.supervisor.rig if run.experiment.supervisor and has_devices else ""
        is_steered = run.realtime is None and not has_devices
        self._stands = False
        self._viewing.say(Begun(case.name, title, diagram, rig, is_steered))
        self._tell(run, case.name, is_over=False)
        try:
            share = partial(self._share, run, case)
            yield replace(steps, share=share, steer=self._steer if is_steered else steps.steer)
        except BaseException as error:
            self._tell(run, case.name, str(error), is_over=True)
            self._viewing.end(f"The run has ended: {error or type(error).__name__}")
            raise
        if self._viewing.lost:
            run.remarks[case.name].append(self._viewing.lost)

    def _steer(self) -> int | None:
        """Do what viewers wish: stand still between two steps, do one, go on, or end the run."""
        while True:
            wish = self._viewing.wish(waits=self._stands)
            if wish == "stop":
                raise RunEndedError("stopped by a viewer of its page")
            stands = wish in {"pause", "step"}
            if stands != self._stands and (wish or self._stands):
                self._stands = stands
                self._viewing.say(Stands(stands))
            if wish == "step":
                return 1
            if not self._stands:
                return None

    def _share(self, run: Run, case: PreparedCase, rows: SharedRows, begun: Result) -> None:
        self._viewing.say(recording_of(run, case, rows, begun), rows.file)

    def after(self, run: Run, case: PreparedCase, result: Result) -> Result:
        """Show what was found of a case."""
        self._tell(run, case.name, *result.notes, is_over=True)
        return result

    def end(self, run: Run) -> None:
        """Show measures and verdicts, and end the server."""
        for name, outcome in run.outcome.cases.items():
            measured = tuple(
                (key.replace("_", " "), one.value, one.unit)
                for key, one in outcome.measured.items()
            )
            columns = ("measure", "value", "unit")
            found = [Section("measures", "Measures", columns, measured)] if measured else []
            self._tell(run, name, *outcome.result.remarks, is_over=True, first=found)
        self._viewing.end(
            "The run has ended, and this page keeps what it shows now. Its report is"
            f" {run.output / 'report.html'}; softdock replay shows a recording in a page like this."
        )

    def _tell(
        self, run: Run, case: str, *remarks: str, is_over: bool, first: list[Section] | None = None
    ) -> None:
        found = [*(first or ()), *([self._loops] if self._loops.rows else ()), *run.sections[case]]
        said = tuple(replace(one, value=None, data=None) for one in found)
        self._viewing.say(Said(case, said, remarks or tuple(run.notes[case]), is_over))


def recording_of(run: Run, case: PreparedCase, rows: SharedRows, begun: Result) -> Recording:
    """Return what another process is told of the rows of a case."""
    options, pace = case.options, run.realtime
    _, stop_ns, _ = horizon(case.system, options.start, options.stop, options.step)
    return Recording(
        replace(begun, system=None, parameters=(), plans=(), loops=()),
        len(rows.times_ns),
        stop_ns,
        None if begun.timing is None or pace is None else pace.factor,
        frozenset(pace.cpus) if pace is not None else frozenset(),
    )


def _has_devices(case: PreparedCase) -> bool:
    components = case.system.components.values()
    return any(one.source.kind is SourceKind.DEVICE for one in components)
