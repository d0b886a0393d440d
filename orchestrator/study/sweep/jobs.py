"""Jobs of a sweep: what they are, the hash of what determines each, and what workers do."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from importlib.metadata import version
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import numpy as np

from orchestrator.core.diagnostics import (
    DescriptionError,
    PluginError,
    SoftdockError,
    exits_are_errors,
)
from orchestrator.core.display import errors_only
from orchestrator.core.recording import Result
from orchestrator.core.simunits import class_of
from orchestrator.core.simunits.blocks.block_file import files_of, is_of_file
from orchestrator.core.structs import Struct, field, replace
from orchestrator.core.system import Component, Source, SourceKind
from orchestrator.study.experiment import Experiment, Measure
from orchestrator.study.figure_tables import Sweep
from orchestrator.study.measure.measures import evaluate
from orchestrator.study.measure.outcome import Measured
from orchestrator.study.prepare.axes import Point, placed, points, seeds_of
from orchestrator.study.prepare.inputs import is_playback
from orchestrator.study.prepare.prepared_case import PreparedCase
from orchestrator.study.run.case_runs import run_case

#: Reads a figure off a result.
Figure = Callable[[Result], float]
#: Status of a run in which a component went to its safe state.
SAFE = "safe state"
Status = Literal["done", "failed", "unmeasured", "diverged", "died", "safe state"]


class JobContext(Struct):
    """A sweep with the systems of its cases, prepared: the same for all its jobs.

    name, sweep: The sweep.
    cases: By name, without the change: its own, and the references of measures.
    measures: What is read off each case of the sweep.
    functions: Further figures, which are read off by Python.
    threads: Of each run; ``None``: what the run takes by itself.
    ends_at_failure: Whether the first run or measure that fails ends the sweep by its error,
        instead of becoming a record.
    """

    name: str
    sweep: Sweep
    cases: Mapping[str, PreparedCase]
    measures: Mapping[str, Mapping[str, Measure]]
    functions: Mapping[str, Figure] = field(default_factory=dict)
    threads: int | None = 1
    ends_at_failure: bool = False

    def others(self, case: str) -> list[str]:
        """Names of the cases that a case is compared with."""
        names = [m.to for m in self.measures[case].values() if m.to is not None]
        return [name for name in dict.fromkeys(names) if name != case]


class Job(Struct):
    """One case at one point, for one seed.

    key: Hash of all that determines what comes of it.
    case, point, seed: What is run.
    runs: Hashes of its own run and of its references, by case.
    """

    key: str
    case: str
    point: Point
    seed: int | None
    runs: Mapping[str, str]


class JobRecord(Struct):
    """What came of a job.

    key, case, point, seed: Of the job; the point as it is shown.
    status: ``"done"``; ``"failed"``: the run ended with an error; ``"unmeasured"``: measures could
        not be read off; ``"diverged"``: one is infinite or no number; ``"died"``: its process did;
        ``"safe state"``: a component went to it, and the measures are those of what followed.
    reason: Why, unless it is done.
    measured: What could be read off, by the measure's name.
    wall_seconds: Of the whole run, with loading and initialisation.
    """

    key: str
    case: str
    point: Mapping[str, bool | float | str]
    seed: int | None
    status: str
    reason: str = ""
    measured: Mapping[str, Measured] = field(default_factory=dict)
    wall_seconds: float = 0.0

    @classmethod
    def of(cls, job: Job, status: str, reason: str = "", **fields: Any) -> JobRecord:
        """Make the record of a job."""
        values = {name: value.label for name, value in job.point.items()}
        return cls(job.key, job.case, values, job.seed, status, reason, **fields)

    @property
    def label(self) -> str:
        """Name its case, point and seed."""
        parts = [f"{axis} = {value}" for axis, value in self.point.items()]
        parts += [] if self.seed is None else [f"seed {self.seed}"]
        return f"{self.case} at {', '.join(parts)}" if parts else self.case

    @property
    def is_good(self) -> bool:
        """Whether the run did what was requested; a safe state is part of that."""
        return self.status in {"done", SAFE}


#: Results of cases that others are compared with, kept for the next jobs.
_KEPT = 6
_cached = threading.local()


def run_jobs(context: JobContext, jobs: Sequence[Job]) -> list[JobRecord]:
    """Run jobs one after the other; one that fails is a record, unless it ends the sweep."""
    with errors_only():  # thousands of runs would repeat them; `softdock check` tells them once
        return [_run(context, job) for job in jobs]


def _run(context: JobContext, job: Job) -> JobRecord:
    began = time.perf_counter()
    try:
        there = placed(context.sweep, job.point, job.seed, context.cases[job.case])
        result = run_case(there, threads=context.threads)
        wall = time.perf_counter() - began
        others = {name: _other_result(context, job, name) for name in context.others(job.case)}
    except Exception as error:  # whatever it is, it is a row and not the end
        if context.ends_at_failure:
            raise
        wall = time.perf_counter() - began
        return JobRecord.of(job, "failed", _sentence(error), wall_seconds=wall)
    return _measured(context, job, there, {job.case: result, **others}, wall)


def _other_result(context: JobContext, job: Job, name: str) -> Result:
    """Run a case that is compared with, unless it was run just before."""
    results: OrderedDict[str, Result] = _cached.__dict__.setdefault("results", OrderedDict())
    key = job.runs[name]
    if key in results:
        results.move_to_end(key)
        return results[key]
    there = placed(context.sweep, job.point, job.seed, context.cases[name])
    results[key] = run_case(there, threads=context.threads)
    while len(results) > _KEPT:
        results.popitem(last=False)
    return results[key]


def _measured(
    context: JobContext, job: Job, there: PreparedCase, results: dict[str, Result], wall: float
) -> JobRecord:
    values: dict[str, Measured] = {}
    missing: list[str] = []
    result = results[job.case]
    for name, measure in context.measures[job.case].items():
        try:
            with np.errstate(all="ignore"):  # figures show divergence
                values[name] = evaluate(measure, result, there.system, results)
        except (DescriptionError, ArithmeticError, ValueError, np.linalg.LinAlgError) as error:
            if context.ends_at_failure:
                raise
            missing.append(f"measure '{name}': {_sentence(error)}")
    for name, figure in context.functions.items():
        try:
            with exits_are_errors():
                values[name] = Measured(float(figure(result)), "")
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a row and not the end
            missing.append(f"measure '{name}': {_sentence(error)}")
    infinite = [name for name, value in values.items() if not math.isfinite(value.value)]
    status, reason = "done", ""
    if result.safe_states:
        status, reason = SAFE, str(result.safe_states[0])
    elif missing:
        status, reason = "unmeasured", "; ".join(missing)
    elif infinite:
        status, reason = "diverged", f"not finite: {', '.join(infinite)}"
    return JobRecord.of(job, status, reason, measured=values, wall_seconds=wall)


def _sentence(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, SoftdockError) else f"{type(error).__name__}: {text}"


#: Parts of systems that are remembered; a sweep may have millions.
_REMEMBERED = 4096
#: Options of a run that change its files only.
_FILES_ONLY = {"formats", "flush"}


def digest(*parts: object) -> str:
    """Hash texts and bytes; anything else by what Python prints of it."""
    state = blake2b(digest_size=16)
    for part in parts:
        content = part if isinstance(part, bytes) else str(part).encode()
        state.update(len(content).to_bytes(8, "little") + content)
    return state.hexdigest()


class Fingerprints:
    """Hashes of runs; files are read once."""

    def __init__(self) -> None:
        self._files: dict[str, str] = {}
        self._blocks: dict[str, str] = {}
        self._parts: dict[int, tuple[object, str]] = {}
        self._softdock = version("softdock")

    def run(self, case: PreparedCase) -> str:
        """Hash a run: system, contents of its FMUs and blocks, options, faults, version."""
        system = case.system
        components = [self._part(component) for component in system.components.values()]
        options = case.options.model_dump(exclude=_FILES_ONLY)
        return digest(
            self._softdock,
            components,
            self._part(system.connections),
            self._part(system.connectors),
            system.values,
            system.experiment,
            sorted(options.items(), key=lambda item: item[0]),
            case.case.fault,
        )

    def row(self, runs: Mapping[str, str], measures: Mapping[str, Measure]) -> str:
        """Hash a row: its run, the runs it is compared with, and what is read off."""
        return digest(sorted(runs.items()), sorted((k, repr(m)) for k, m in measures.items()))

    def file(self, path: str) -> str:
        """Hash the content of a file."""
        if path not in self._files:
            self._files[path] = digest(Path(path).read_bytes())
        return self._files[path]

    def block(self, source: Source) -> str:
        """Hash the Python files of the package that a block is in; of a file what it imports."""
        module = class_of(source).__module__
        top = module if is_of_file(module) else module.partition(".")[0]
        if top not in self._blocks:
            self._blocks[top] = digest(*_sources(sys.modules[top]))
        return self._blocks[top]

    def _part(self, part: object) -> str:
        """Hash a part of a system, of which most are the same in all variants."""
        if id(part) not in self._parts:
            if len(self._parts) >= _REMEMBERED:
                self._parts.clear()
            text = self._component(part) if isinstance(part, Component) else part
            self._parts[id(part)] = part, digest(text)  # kept, so that its id is not used again
        return self._parts[id(part)][1]

    def _component(self, component: Component) -> Component:
        """Put hashes in the place of what lies elsewhere on every machine."""
        source, values = component.source, component.values
        if source.kind is SourceKind.FMU:
            return replace(component, source=Source(source.kind, self.file(source.location)))
        if source.kind is SourceKind.LOG and source.file is not None:
            return replace(component, source=source.with_file(self.file(str(source.file))))
        if source.kind is SourceKind.TWIN and source.inner is not None:
            inner = self._component(replace(component, source=source.inner))
            twin = Source(source.kind, self.file(str(source.file)))
            text = f"{twin.location} {inner.source.location} {source.seed}"
            return replace(inner, source=Source(source.kind, text))
        if source.kind is SourceKind.BLOCK:
            if is_playback(component):
                values = {**values, "file": self.file(str(values["file"]))}
            file = source.file
            named_source = source if file is None else source.with_file(file.name)
            location = f"{named_source.location} {self.block(source)}"
            return replace(component, source=Source(source.kind, location), values=values)
        return component


def _sources(module: ModuleType) -> list[bytes]:
    """Read the files of a module of a file, or of a package with all below its folders."""
    if is_of_file(module.__name__):
        files = files_of(module)
    elif hasattr(module, "__path__"):  # several folders, if it has no __init__.py
        files = [path for folder in module.__path__ for path in sorted(Path(folder).rglob("*.py"))]
    else:
        file = getattr(module, "__file__", None)  # modules made by hand have none
        files = [Path(file)] if file else []
    if not files:
        raise PluginError(
            f"module '{module.__name__}': no Python files of it were found, so a sweep cannot"
            " detect changes of its blocks; put the blocks into a file or a package"
        )
    return [path.read_bytes() for path in files]


class SweepPlan(Struct):
    """The jobs of a sweep, in the order of its table; one may stand for several rows."""

    context: JobContext
    jobs: tuple[Job, ...]

    @property
    def distinct(self) -> list[Job]:
        """Each run once: a case that an axis or a seed does not reach is not run again."""
        return list({job.key: job for job in self.jobs}.values())


def cases_needed(sweep: Sweep, experiment: Experiment) -> list[str]:
    """Names of the cases of a sweep, and of the references of its measures."""
    measures = [
        experiment.case[name].measure[key]
        for name in sweep.cases
        for key in sweep.measures
        if key in experiment.case[name].measure
    ]
    compared = [measure.to for measure in measures if measure.to is not None]
    return list(dict.fromkeys((*sweep.cases, *compared)))


class EachItsOwn:
    """Takes no run for equal to another: for sweeps of which nothing is kept."""

    def __init__(self) -> None:
        self._numbers = count()

    def run(self, case: PreparedCase) -> str:
        """Return the name of the case and a number."""
        return f"{case.name} {next(self._numbers)}"

    def row(self, runs: Mapping[str, str], measures: Mapping[str, Measure]) -> str:
        """Return the keys of the runs."""
        del measures
        return " ".join(runs.values())


def plan_of(
    name: str,
    sweep: Sweep,
    experiment: Experiment,
    prepared: Mapping[str, PreparedCase],
    keys: EachItsOwn | None = None,
) -> SweepPlan:
    """Make all jobs of a sweep."""
    cases = {key: experiment.case[key] for key in cases_needed(sweep, experiment)}
    measures = {
        key: {m: cases[key].measure[m] for m in sweep.measures if m in cases[key].measure}
        for key in sweep.cases
    }
    context = JobContext(name, sweep, {key: prepared[key] for key in cases}, measures)
    prints = keys or Fingerprints()
    jobs: list[Job] = []
    problems: dict[str, None] = {}
    for point in points(sweep):
        for seed in seeds_of(sweep):
            runs: dict[str, str] = {}
            for case, variant in context.cases.items():
                try:
                    runs[case] = prints.run(placed(sweep, point, seed, variant))
                except DescriptionError as error:
                    problems |= {f"sweep '{name}': {text}": None for text in error.problems}
            if not problems:
                for case in sweep.cases:
                    mine = {key: runs[key] for key in (case, *context.others(case))}
                    key = prints.row(mine, context.measures[case])
                    jobs.append(Job(key, case, point, seed, mine))
        if len(problems) > 20:
            break
    if problems:
        raise DescriptionError(*problems)
    return SweepPlan(context, tuple(jobs))
