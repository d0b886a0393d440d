"""From a sweep to its jobs, with the hash of what determines each."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from importlib.metadata import version
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Protocol

from orchestrator.core.diagnostics import DescriptionError, PluginError
from orchestrator.core.simunits import class_of
from orchestrator.core.simunits.blocks.block_file import files_of, is_of_file
from orchestrator.core.system import Component, Source, SourceKind
from orchestrator.study.experiment import Experiment, Measure
from orchestrator.study.figure_tables import Sweep
from orchestrator.study.prepare.axes import placed, points, seeds_of
from orchestrator.study.prepare.inputs import is_playback
from orchestrator.study.prepare.prepared_case import PreparedCase
from orchestrator.study.sweep.job import Job, JobContext

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

    def row(self, runs: dict[str, str], measures: dict[str, Measure]) -> str:
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
            said = self._component(part) if isinstance(part, Component) else part
            self._parts[id(part)] = part, digest(said)  # kept, so that its id is not used again
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
            said = f"{twin.location} {inner.source.location} {source.seed}"
            return replace(inner, source=Source(source.kind, said))
        if source.kind is SourceKind.BLOCK:
            if is_playback(component):
                values = {**values, "file": self.file(str(values["file"]))}
            file = source.file
            named = source if file is None else source.with_file(file.name)
            place = f"{named.location} {self.block(source)}"
            return replace(component, source=Source(source.kind, place), values=values)
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
            f"module '{module.__name__}': no Python files of it were found, so no sweep could tell"
            " whether its blocks have changed; put them into a file or a package"
        )
    return [path.read_bytes() for path in files]


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """The jobs of a sweep, in the order of its table; one may stand for several rows."""

    context: JobContext
    jobs: tuple[Job, ...]

    @property
    def distinct(self) -> list[Job]:
        """Each run once: a case that an axis or a seed does not reach is not run again."""
        return list({job.key: job for job in self.jobs}.values())


def cases_needed(sweep: Sweep, experiment: Experiment) -> list[str]:
    """Names of the cases of a sweep, and of those that its measures compare with."""
    measures = [
        experiment.case[name].measure[key]
        for name in sweep.cases
        for key in sweep.measures
        if key in experiment.case[name].measure
    ]
    compared = [measure.to for measure in measures if measure.to is not None]
    return list(dict.fromkeys((*sweep.cases, *compared)))


class RunKeys(Protocol):
    """Says which runs and rows are equal."""

    def run(self, case: PreparedCase) -> str:
        """Return a key of all that determines a run."""
        ...

    def row(self, runs: dict[str, str], measures: dict[str, Measure]) -> str:
        """Return a key of a run with the runs that it is compared with, and what is read off."""
        ...


class EachItsOwn:
    """Takes no run for equal to another: for sweeps of which nothing is kept."""

    def __init__(self) -> None:
        self._numbers = count()

    def run(self, case: PreparedCase) -> str:
        """Return the name of the case and a number."""
        return f"{case.name} {next(self._numbers)}"

    def row(self, runs: dict[str, str], measures: dict[str, Measure]) -> str:
        """Return the keys of the runs."""
        del measures
        return " ".join(runs.values())


def plan_of(
    name: str,
    sweep: Sweep,
    experiment: Experiment,
    prepared: Mapping[str, PreparedCase],
    keys: RunKeys | None = None,
) -> SweepPlan:
    """Make all jobs of a sweep."""
    context = context_of(name, sweep, experiment, prepared)
    prints = Fingerprints() if keys is None else keys
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
                    key = prints.row(mine, dict(context.measures[case]))
                    jobs.append(Job(key, case, point, seed, mine))
        if len(problems) > 20:
            break
    if problems:
        raise DescriptionError(*problems)
    return SweepPlan(context, tuple(jobs))


def context_of(
    name: str, sweep: Sweep, experiment: Experiment, prepared: Mapping[str, PreparedCase]
) -> JobContext:
    """Return what the workers need to know."""
    cases = {key: experiment.case[key] for key in cases_needed(sweep, experiment)}
    return JobContext(
        name=name,
        sweep=sweep,
        cases={key: prepared[key] for key in cases},
        measures={
            key: {m: cases[key].measure[m] for m in sweep.measures if m in cases[key].measure}
            for key in sweep.cases
        },
    )
