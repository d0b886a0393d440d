"""Runs of the cases of an experiment: what each records, and the files that it leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import (
    DescriptionError,
    Diagnostic,
    NeverEngagedError,
    PluginError,
    Problem,
    Severity,
    SoftdockError,
    choices_for,
)
from orchestrator.core.diagnostics.errors import toml_key
from orchestrator.core.master import recordable
from orchestrator.core.optional_packages import missing_module
from orchestrator.core.recording import (
    LARGEST_MATRIX,
    Journal,
    Result,
    default_format,
    format_names,
    link,
    writer,
)
from orchestrator.core.simulation import (
    FailedRunError,
    InterruptedRun,
    RunHooks,
    RunStop,
    simulate_with,
)
from orchestrator.core.structs import Struct
from orchestrator.core.system import SourceKind, System, nanoseconds, seconds
from orchestrator.study.extension import Extension, Run, Steps
from orchestrator.study.measure.outcome import StoppedCase
from orchestrator.study.prepare.inputs import with_rests
from orchestrator.study.prepare.prepared_case import PreparedCase, faults_of
from orchestrator.study.run.extension_calls import entered, finished, prepared

if TYPE_CHECKING:
    from orchestrator.core.master import ExecutionSettings
    from orchestrator.core.realtime import RealTime


def run_case(
    case: PreparedCase,
    hooks: RunHooks = RunHooks(),  # noqa: B008 - it never changes
    *,
    threads: int | None = None,
    realtime: RealTime | None = None,
) -> Result:
    """Run a case; see :func:`~orchestrator.core.simulation.simulate`."""
    system, settings = as_simulated(case)
    system = with_rests(system, case.case.rest)
    settings = replace(settings, threads=threads, realtime=realtime)
    return simulate_with(system, settings, hooks, case.name)


def as_simulated(case: PreparedCase) -> tuple[System, ExecutionSettings]:
    """Return the system of a case, and how it is run."""
    options, system = case.options, case.system
    if options.backend is not None:
        system = system.with_backend(options.backend)
    if options.debug:
        for name, component in system.components.items():
            if component.source.kind is SourceKind.FMU:
                system = system.with_options(name, debug=True)
    return system, options.settings(
        system,
        stop=options.stop,
        record=options.record,
        every=options.every,
        faults=faults_of(case.case),
        tuned=case.tuned,
        limits=case.limits,
    )


FLUSH = "1 s"
#: Packages that formats need which may not be installed.
_NEEDS = {"mcap": "mcap", "parquet": "pyarrow"}
#: Ends the name of what a run has recorded that did not come to its end.
_PARTIAL = ".partial"


class RecorderView(Struct):
    """Files of one content.

    stem: Name of the files without the ending.
    names: Signals, as the result names them.
    every: Of how many rows of the case's result one is kept.
    formats: Registered names, which end the files.
    """

    stem: str
    names: tuple[str, ...]
    every: int
    formats: tuple[str, ...]


def signal_names(system: System, record: Sequence[str] | None) -> list[str]:
    """Names in the result of what is recorded: one for each element of an array."""
    names = []
    for output in recordable(system, record):
        component, _, connector = output.partition(".")
        size = system.components[component].connectors[connector].size
        names += [output] if size == 1 else [f"{output}[{i}]" for i in range(size)]
    return names


def views(case: PreparedCase) -> list[RecorderView]:
    """List the contents that a case's files shall have, its whole result first."""
    name, options, system = case.name, case.options, case.system
    problems: list[Problem] = []
    all_signals = _selected_signals(system, options.record, f"case '{name}'", problems)
    every, formats = options.every or 1, options.formats or (default_format(),)
    recorders = [RecorderView(name, tuple(all_signals), 1, formats)]
    for key, recorder in case.case.recorder.items():
        location = f"case '{name}', recorder '{key}'"
        names = all_signals
        if recorder.record is not None:
            names = _selected_signals(system, recorder.record, location, problems)
        missing = [signal for signal in names if signal not in all_signals]
        if missing:
            problems.append(
                _recorder_problem(key, f"{location}: the case does not record {', '.join(missing)}")
            )
        interval = recorder.every or every
        if interval % every:
            text = f"every: expected a multiple of the case's {every}, found {interval}"
            problems.append(_recorder_problem(key, f"{location}: {text}"))
        if key == "partial":
            text = "this name ends the files of runs that fail: choose another"
            problems.append(_recorder_problem(key, f"{location}: {text}"))
        view = RecorderView(
            f"{name}.{key}", tuple(names), interval // every, recorder.formats or formats
        )
        recorders.append(view)
    for kind in dict.fromkeys(kind for view in recorders for kind in view.formats):
        problems += _wrong_format(kind, f"case '{name}'")
    if problems:
        raise DescriptionError(*problems)
    return recorders


def _wrong_format(kind: str, location: str) -> Iterator[Problem]:
    formats = format_names()
    if kind not in formats:
        yield f"{location}: no format '{kind}'{choices_for(kind, formats, 'format')}"
    elif kind in _NEEDS and (reason := missing_module(_NEEDS[kind])):
        yield f"{location}, format '{kind}': {reason}"
    else:
        try:
            writer(kind)
        except PluginError as error:
            yield f"{location}: {error}"


def _recorder_problem(recorder: str, text: str) -> Diagnostic:
    return Diagnostic("DescriptionError", Severity.ERROR, text, key=toml_key("recorder", recorder))


def _selected_signals(
    system: System, record: Sequence[str] | None, location: str, problems: list[Problem]
) -> list[str]:
    try:
        return signal_names(system, record)
    except DescriptionError as error:
        problems += error.within(location)
        return []


def expect_room(view: RecorderView, steps: int, every: int) -> Iterator[str]:
    """Say before a run whether a MAT file could hold what it records."""
    size = 8 * (1 + len(view.names)) * (steps // (every * view.every) + 2)
    if "mat" in view.formats and size > LARGEST_MATRIX:
        yield (
            f"'{view.stem}': a MAT file would hold {size / 2**30:.3g} GiB of signals; expected less"
            " than 2 GiB: record fewer outputs or every n-th step, or choose parquet"
        )


def flush_seconds(case: PreparedCase) -> float:
    """Seconds of wall time between two writings of the journal."""
    location = f"case '{case.name}'"
    flush = FLUSH if case.options.flush is None else case.options.flush
    interval = nanoseconds(flush, f"{location}: flush")
    if interval <= 0:
        raise DescriptionError(f"{location}: flush: expected > 0 s, found {flush!r}")
    return seconds(interval)


def _written(
    result: Result, recorder_views: Sequence[RecorderView], folder: Path, mark: str = ""
) -> Iterator[Path]:
    """Write all files of a case."""
    for view in recorder_views:
        content = result if view is recorder_views[0] else result.part(view.names, view.every)
        for kind in view.formats:
            path = folder / f"{view.stem}{mark}.{kind}"
            writer(kind)(content, path)
            yield path


def run_cases(run: Run, extensions: Sequence[Extension]) -> dict[str, Result]:
    """Run cases; what they record is seen at once under names that say that more is to come.

    When an operator or a supervisor stops one, those behind it are not run, and leave
    ``run.cases``.
    """
    results: dict[str, Result] = {}
    for name, case in run.cases.items():
        results[name] = _finished(run, extensions, case)
        if run.outcome.stopped:
            break
    for name in run.cases.keys() - results.keys():
        del run.cases[name]
    return results


def _finished(run: Run, extensions: Sequence[Extension], case: PreparedCase) -> Result:
    for extension in extensions:
        case = prepared(run, extension, case)
    files = views(case)
    partial_name = f"{case.name}{_PARTIAL}"  # what an earlier run may have left
    endings = [f"{mark}.{kind}" for mark in ("", _PARTIAL) for kind in format_names()]
    run.draft.replaced |= {
        partial_name,
        *(view.stem + ending for view in files for ending in endings),
    }
    grows = "mcap" in (case.options.formats or ())
    journal = Journal(run.output / partial_name, flush_seconds(case), grows=grows)
    result = _recorded(run, extensions, case, files, journal)
    with _rows_kept(result, run.output / partial_name, journal):
        for path in _written(result, files, run.draft.folder):
            link(path, run.output / f"{path.stem}{_PARTIAL}{path.suffix}")
            run.outcome.files.append(path)
    journal.remove()
    return result


@contextmanager
def _rows_kept(result: Result, path: Path, journal: Journal) -> Iterator[None]:
    """Keep all rows in the format that takes the least room where a file cannot be written.

    path: Of them, without the ending.
    """
    try:
        yield
    except SoftdockError as error:
        kind = default_format()
        path = path.with_name(f"{path.name}.{kind}")
        try:
            writer(kind)(result, path)
        except SoftdockError:
            is_there = journal.folder.is_dir()
            location = f"in {journal.folder} up to the last flush" if is_there else "nowhere"
        else:
            journal.remove()
            location = f"in {path}, which softdock convert reads"
        text = f"{error}; the run itself ended normally, and its rows are kept {location}"
        raise type(error)(text) from error


def _note_stop(run: Run, case: str, stop: RunStop, text: str) -> None:
    run.outcome.stopped[case] = StoppedCase(stop.by, text)


def _recorded(
    run: Run,
    extensions: Sequence[Extension],
    case: PreparedCase,
    files: Sequence[RecorderView],
    journal: Journal,
) -> Result:
    """Run a case; if that ends early, leave what it has recorded."""

    def leave(result: Result) -> None:
        with _rows_kept(result, journal.folder, journal):
            list(_written(result, files, run.output, _PARTIAL))
        journal.remove()

    pace = run.realtime
    if pace is not None:
        from orchestrator.study.run.pace import is_paced

        pace = pace if is_paced(case, pace) else None
    try:
        with ExitStack() as stack:
            steps = Steps(case)
            for extension in extensions:
                steps = stack.enter_context(entered(run, extension, steps))
            hooks = RunHooks(
                partial(run.tell, case.name),
                journal,
                steps.begin,
                steps.end,
                partial(_note_stop, run, case.name),
                steps.watch,
                steps.share,
                steps.steer,
                None if run.look is None else partial(run.look, case.name, steps.status),
            )
            result = run_case(steps.case, hooks, realtime=pace)
    except (FailedRunError, InterruptedRun, NeverEngagedError) as failure:
        cause = failure.__cause__ if isinstance(failure, NeverEngagedError) else failure
        if isinstance(cause, FailedRunError | InterruptedRun):
            leave(cause.result)
        raise
    notes = (*run.notes[case.name], *result.notes, *run.remarks[case.name])
    result = replace(result, notes=notes)
    try:
        for extension in extensions:
            result = finished(run, extension, case, result)
    except KeyboardInterrupt:
        leave(result)  # the run itself had come to its end
        raise
    return result
