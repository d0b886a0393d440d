"""A run that browsers look at while it goes on: its side of the process that shows it."""

from __future__ import annotations

import json
import pickle
import socket
import subprocess
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING

from orchestrator.author.reading import plain_value, value_of
from orchestrator.core import operating_system
from orchestrator.core.accounts import HAS_NAMES, NamedSocket, page_name
from orchestrator.core.diagnostics import DescriptionError, SoftdockError
from orchestrator.core.own_process import OwnProcess
from orchestrator.core.simulation import RunStop, StoppedRunError
from orchestrator.core.system import Endpoint, SourceKind, Value, horizon
from orchestrator.pictures.diagram import facts_of, live_diagram, nested_of
from orchestrator.pictures.live.door import listening, url_of
from orchestrator.pictures.live.messages import (
    CHANGES,
    CHECK,
    MARK,
    Answered,
    Begun,
    CaseReady,
    Done,
    Ended,
    Message,
    Opened,
    Said,
    Stands,
    Wish,
    receive_wish,
    send,
)
from orchestrator.pictures.live.shown import loops_section
from orchestrator.study import Extension, Run, Section, Steps
from orchestrator.study.prepare.prepared_case import PreparedCase

if TYPE_CHECKING:
    from orchestrator.core.master import Execution
    from orchestrator.core.realtime import SharedRows
    from orchestrator.core.recording import Result


_MODULE = "orchestrator.pictures.live.server"
#: s, in which the process takes its first messages while an interpreter starts, in which it takes
#: others, and in which it ends.
_START, _PATIENCE, _END = 60.0, 5.0, 10.0


class Beside:
    """A process that receives the news of a run; the run ignores one that does not listen.

    module, arguments: What it is; before the arguments stands the descriptor of its channel.
    what: It does.
    files: Descriptors that it inherits.
    lost: Why it receives nothing any more; empty while it does.
    """

    def __init__(
        self,
        module: str,
        arguments: Sequence[str],
        description: str,
        sockets: Sequence[socket.socket] = (),
    ) -> None:
        self.lost, self.what = "", description
        self._process = OwnProcess(module, *arguments, connected=True, stdout=subprocess.DEVNULL)
        self._channel = self._process.channel
        self._channel.settimeout(_START)
        try:
            for passed_socket in sockets:
                operating_system.send_socket(self._channel, passed_socket)
        except OSError as error:
            self._lose(error)

    def say(self, message: Message, memory: int | None = None) -> None:
        """Send a message."""
        if self.lost:
            return
        try:
            send(self._channel, message, memory)
            if isinstance(message, CaseReady):  # it listens, and the first step comes next
                self._channel.settimeout(_PATIENCE)
        except OSError as error:
            self._lose(error)

    def _lose(self, error: OSError) -> None:
        self.lost = f"the run went on without its {self.what}: {error.strerror or error}"

    def end(self, reason: str, seconds: float = _END) -> bool:
        """Say why nothing more will come; return whether it has gone by itself after so long."""
        self.say(Ended(reason))
        self._channel.close()
        has_gone = self._process.wait(seconds)
        self._process.finish()
        return has_gone


def _close_all(sockets: Sequence[socket.socket]) -> None:
    for open_socket in sockets:
        open_socket.close()


class Viewing(Beside):
    """Shows a run to browsers; it ends when those who look know that the run has ended.

    address: Where viewers connect, ``PORT`` or ``HOST:PORT``.
    title: Of the page.
    url: What a viewer opens.
    Raises DescriptionError: if the address cannot be listened to.
    """

    def __init__(self, address: str, title: str) -> None:
        listener, token = listening(address)
        self.url = url_of(listener, token)
        with listener:
            local_sockets = []
            if HAS_NAMES:
                local_sockets.append(
                    NamedSocket(page_name(*listener.getsockname()[:2]), socket.SOCK_STREAM)
                )
            self._free = weakref.finalize(self, _close_all, local_sockets)
            sockets = [listener, *local_sockets]
            super().__init__(_MODULE, [str(len(sockets))], "live view", sockets)
        self.say(Opened(token, title))

    def end(self, reason: str, seconds: float = _END) -> bool:
        """End it, and free the name by which commands reach it."""
        try:
            return super().end(reason, seconds)
        finally:
            self._free()

    def wish(self, *, waits: bool) -> Wish | None:
        """Return what a viewer wishes; ``None``: nothing; having waited: nobody can any more."""
        if self.lost:
            return None
        try:
            return receive_wish(self._channel, waits=waits)
        except OSError as error:
            self._lose(error)
            return None


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
        components = case.system.components.values()
        has_devices = any(component.source.kind is SourceKind.DEVICE for component in components)
        rig = run.experiment.supervisor.rig if run.experiment.supervisor and has_devices else ""
        is_steered = run.realtime is None and not has_devices
        self._stands = False
        arming = run.value(case.name, "arming")
        margin_s = None if arming is None else arming.delay_margin
        case_facts = case.name, title, diagram, rig, is_steered, has_devices, margin_s
        self._viewing.say(Begun(*case_facts, *_margins_again(run, case.name)))
        self._tell(run, case.name, is_over=False)
        try:
            share = partial(self._share, run, case)
            yield replace(steps, share=share, steer=partial(self._steer, case.name))
        except BaseException as error:
            self._tell(run, case.name, str(error), is_over=True)
            self._viewing.end(f"The run has ended: {error or type(error).__name__}")
            raise
        if self._viewing.lost:
            run.remarks[case.name].append(self._viewing.lost)

    def _steer(self, case: str, execution: Execution) -> int | None:
        """Do what viewers wish: tune, mark, stand still between two steps, do one, go on, end."""
        while True:
            wish = self._viewing.wish(waits=self._stands)
            if wish is not None and (wish.request in CHANGES or wish.case != case):
                self._viewing.say(_answered(wish, case, execution))
                continue
            request = "" if wish is None else wish.request
            if request == "stop":
                raise StoppedRunError(RunStop("operator", "from the page of --live"))
            stands = request in {"pause", "step"}
            if stands != self._stands and (request or self._stands):
                self._stands = stands
                self._viewing.say(Stands(stands))
            if request == "step":
                return 1
            if not self._stands:
                return None

    def _share(
        self, run: Run, case: PreparedCase, rows: SharedRows, begun: Result, execution: Execution
    ) -> None:
        ready = recording_of(run, case, rows, begun)
        tunables = [asdict(tunable) for tunable in execution.tunables]
        self._viewing.say(replace(ready, tunables=tunables), rows.file)
        execution.listen(lambda event: self._viewing.say(Done(event)))

    def after(self, run: Run, case: PreparedCase, result: Result) -> Result:
        """Show what was found of a case."""
        self._tell(run, case.name, *result.notes, is_over=True)
        return result

    def end(self, run: Run) -> None:
        """Show measures and verdicts, and end the server."""
        for name, outcome in run.outcome.cases.items():
            measured = tuple(
                (key.replace("_", " "), measure.value, measure.unit)
                for key, measure in outcome.measured.items()
            )
            columns = ("measure", "value", "unit")
            measures_section = (
                [Section("measures", "Measures", columns, measured)] if measured else []
            )
            self._tell(run, name, *outcome.result.remarks, is_over=True, first=measures_section)
        self._viewing.end(
            "The run has ended, and this page keeps what it shows now. Its report is"
            f" {run.output / 'report.html'}; softdock replay shows a recording in a page like this."
        )

    def _tell(
        self, run: Run, case: str, *remarks: str, is_over: bool, first: list[Section] | None = None
    ) -> None:
        sections = [
            *(first or ()),
            *([self._loops] if self._loops.rows else ()),
            *run.sections[case],
        ]
        plain_sections = tuple(replace(section, value=None, data=None) for section in sections)
        self._viewing.say(Said(case, plain_sections, remarks or tuple(run.notes[case]), is_over))


def _margins_again(run: Run, case: str) -> tuple[bytes, str]:
    """Return what computes the margins of a case with other values, or why nothing does."""
    arming = run.value(case, "arming")
    if arming is None:
        return b"", "no device in it is commanded, so it has no margins that could be computed"
    try:
        return pickle.dumps(arming.again), ""
    except SoftdockError as error:  # a block that this process only knows
        return b"", f"its margins cannot be computed beside the run: {error}"


#: Values of a ramp whose margins are computed before a rig takes it, besides the last.
_PLACES = 7


def _answered(wish: Wish, case: str, execution: Execution) -> Answered:
    """Tune or mark a run as a viewer wishes; say why not where that is refused."""
    try:
        if wish.case != case:
            raise DescriptionError(f"case '{wish.case}' is over")
        if wish.request == MARK:
            execution.mark(wish.text, wish.by)
            return Answered(wish.number, "")
        value: Value = plain_value(wish.text)
        if "->" not in wish.name:
            end = Endpoint.parse(wish.name)
            connector = execution.system.component(end.component).connector(end.connector)
            value = value_of(wish.text, connector, wish.name)
        if wish.request == CHECK:
            proposed = execution.proposed(wish.name, value, wish.ramp)
            is_delay = "->" in wish.name
            values = proposed.ramp_values(_PLACES)
            texts = (f"{round(value)} ns" if is_delay else json.dumps(value) for value in values)  # type: ignore[arg-type]
            return Answered(wish.number, "", tuple(texts))
        execution.set(wish.name, value, wish.ramp, by=wish.by, granted=wish.granted)
    except SoftdockError as error:
        return Answered(wish.number, str(error))
    return Answered(wish.number, "")


def recording_of(run: Run, case: PreparedCase, rows: SharedRows, begun: Result) -> CaseReady:
    """Return the message to another process about the rows of a case."""
    options, pace = case.options, run.realtime
    _, stop_ns, _ = horizon(case.system, options.start, options.stop, options.step)
    return CaseReady(
        replace(begun, system=None, parameters=(), plans=(), loops=()),
        len(rows.times_ns),
        stop_ns,
        None if begun.timing is None or pace is None else pace.factor,
        frozenset(pace.cpus) if pace is not None else frozenset(),
    )
