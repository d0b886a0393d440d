"""A prepared case, the settings of its run, and the systems that cases share."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from orchestrator.author import read_system
from orchestrator.core.coupling import fault_records
from orchestrator.core.diagnostics import (
    DescriptionError,
    Diagnostic,
    Problem,
    UnknownNameError,
    choices_for,
    enumerated,
    suggestion,
)
from orchestrator.core.diagnostics.errors import toml_key
from orchestrator.core.diagnostics.validation import Time
from orchestrator.core.master import fault_refusals, validate_plan
from orchestrator.core.simunits import resolve
from orchestrator.core.structs import Struct, field
from orchestrator.core.system import Endpoint, Fault, SourceKind, System, horizon
from orchestrator.core.system.experiment import tuning_limits
from orchestrator.core.system.levels import expect_fitting_levels
from orchestrator.study.experiment import Case, Experiment, ParameterFile, RunOptions, Setting

if TYPE_CHECKING:
    from orchestrator.core.coupling import Tuned
    from orchestrator.core.system.ports import Limits


class EmulatorPlan(Struct):
    """A program that is started before a case and ended after it.

    module: Of the emulator.
    arguments: Of it; ``{NAME.PLACE}`` in them is known when the emulator ``NAME`` has been started.
    """

    module: str
    arguments: tuple[str, ...]


class PreparedCase(Struct):
    """A case, its options completed by the defaults, and its system: read, changed and flat.

    ``emulators`` stand for devices of it, by component. ``limits`` are those within which it is
    tuned while it runs, and ``tuned`` what is done again as it was in another run.
    """

    name: str
    case: Case
    options: RunOptions
    system: System
    emulators: Mapping[str, EmulatorPlan] = field(default_factory=dict)
    limits: Mapping[str, Limits] = field(default_factory=dict)
    tuned: Sequence[Tuned] = ()

    def with_options(self, **options: Any) -> PreparedCase:
        """Return the case with other options."""
        return replace(self, options=self.options.model_copy(update=options))


class RunSettings(Struct):
    """Changes for all cases of a run, and how it is done.

    values, swaps: By ``component.parameter`` and by ``component``, for every case that has the
        component.
    delays: By ``source -> target``, for every case that has the connection.
    parameters: Parameter sets for every case, over its own values and under ``values``; paths start
        from the present folder.
    only: Cases to run; empty means all.
    isolated: Components that run in processes of their own; ``"all"`` means every one.
    platform: The platform whose libraries all FMUs run, such as ``"win64"``.
    notes: Sentences to put into every result.
    strict: Whether FMUs whose model descriptions break rules of FMI are refused.
    verify: Whether every case is run again with H/2 and H/4, and all are compared.
    realtime: Simulated over wall time: cases are run in real time, as the experiment's
        ``[realtime]`` says but for its factor; ``None``: as it says.
    force_arming: Whether devices move although arming is refused, or cannot be computed.
    stored_twins: Folders of earlier results whose twins stand for an identification, the first that
        has one; ``None``: devices are identified, if the file says so.
    figures: Whether pictures of all figures and systems are drawn as files.
    tuning: A result: what was tuned while its case ran is done again, before the same steps;
        ``None``: nothing is.
    live: Where the run is shown while it goes on, ``PORT`` or ``HOST:PORT``; ``None``: nowhere.
    stream: Programs that are sent its rows meanwhile, ``udp[:[HOST:]PORT]`` or
        ``foxglove[:[HOST:]PORT]``; ``None``: none.
    """

    values: Mapping[str, Setting] = field(default_factory=dict)
    swaps: Mapping[str, str] = field(default_factory=dict)
    delays: Mapping[str, Time] = field(default_factory=dict)
    parameters: Sequence[ParameterFile] = ()
    only: Collection[str] = ()
    isolated: Collection[str] = ()
    platform: str | None = None
    notes: Sequence[str] = ()
    strict: bool = False
    verify: bool = False
    realtime: float | None = None
    force_arming: bool = False
    stored_twins: Sequence[Path] | None = None
    figures: bool = False
    tuning: Path | None = None
    live: str | None = None
    stream: tuple[str, ...] | None = None


class RunKeywords(TypedDict, total=False):
    """What a program can ask of the run of an experiment; see :class:`RunSettings`."""

    values: Mapping[str, Setting]
    swaps: Mapping[str, str]
    delays: Mapping[str, Time]
    parameters: Sequence[ParameterFile]
    only: Collection[str]
    isolated: Collection[str]
    platform: str | None
    notes: Sequence[str]
    strict: bool
    verify: bool
    realtime: float | None
    figures: bool


def faults_of(case: Case) -> list[Fault]:
    """Return the faults of a case, in the order of the file."""
    faults: list[Fault] = []
    problems: list[Diagnostic] = []
    for label, table in case.fault.items():
        settings = table.model_dump(exclude_none=True)
        kind, targets, begin = (settings.pop(key) for key in ("kind", "on", "begin"))
        try:
            faults += [
                Fault.of(kind, on, begin, label=label, **settings)
                for on in ((targets,) if isinstance(targets, str) else targets)
            ]
        except DescriptionError as error:
            problems += (replace(f, key=toml_key("fault", label)) for f in error.diagnostics)
    if problems:
        raise DescriptionError(*problems)
    return faults


def wrong_faults(case: PreparedCase) -> Iterator[Problem]:
    """Say what keeps the faults of a case from acting."""
    if not case.case.fault:
        return
    options, system = case.options, case.system
    try:
        faults = faults_of(case.case)
    except DescriptionError as error:
        yield from error.diagnostics
        return
    settings = options.settings(system)
    try:
        plan = validate_plan(system, settings.algorithm, settings.algorithm_options, settings.rates)
        start_ns, stop_ns, step_ns = horizon(system, options.start, options.stop, options.step)
    except DescriptionError:
        return  # reported with the options
    if refused := fault_refusals(system, settings.algorithm, plan, faults):
        yield from refused
        return
    try:
        fault_records(
            faults, system, start_ns, stop_ns, None if plan.step_size_control else step_ns
        )
    except DescriptionError as error:
        yield from error.diagnostics


#: The file says all.
AS_WRITTEN = RunSettings()


#: Stands for all components on the command line.
EVERY = "all"


def requested_cases(experiment: Experiment, only: Collection[str]) -> dict[str, Case]:
    """Return cases by name, all if ``only`` is empty."""
    unknown = [name for name in only if name not in experiment.case]
    if unknown:
        choices = choices_for(unknown[0], experiment.case, "case")
        raise UnknownNameError(f"no case {enumerated(map(repr, unknown))}{choices}")
    return {name: case for name, case in experiment.case.items() if not only or name in only}


def expect_components(settings: RunSettings, systems: Mapping[str, System]) -> None:
    """Expect that some system has each component that the command line swaps, sets or isolates."""
    set_there = (Endpoint.parse(path).component for path in settings.values if "." in path)
    isolated = (name for name in settings.isolated if name != EVERY)
    names = {name for system in systems.values() for name in system.components}
    for name in (*settings.swaps, *set_there, *isolated):
        if name not in names:
            raise UnknownNameError(
                f"no case has a component '{name}'{choices_for(name, sorted(names), 'component')}"
            )


def with_tuning(
    experiment: Experiment, cases: Mapping[str, PreparedCase], settings: RunSettings
) -> dict[str, PreparedCase]:
    """Give cases the limits within which they are tuned, and what was tuned in another run."""
    limits = {
        name: tuning_limits(name, table.minimum, table.maximum)
        for name, table in experiment.tuning.items()
    }
    tuned_cases: dict[str, PreparedCase] = {}
    names: set[str] = set()
    for case, prepared in cases.items():
        of_system = prepared.system.experiment.tuning
        case_names = _nameable(prepared.system) if limits or of_system else set()
        names |= case_names
        for name in sorted(of_system.keys() - case_names):
            raise UnknownNameError(
                f"case '{case}': limits of '{name}' in the system: it has no input, parameter or"
                f" connection of this name{suggestion(name, case_names)}"
            )
        tuned_cases[case] = replace(
            prepared, limits={n: prepared for n, prepared in limits.items() if n in case_names}
        )
    for name in limits.keys() - names:
        raise UnknownNameError(
            f'tuning."{name}": no case has an input, a parameter or a connection of this name'
            f"{suggestion(name, names)}"
        )
    if settings.tuning is None:
        return tuned_cases
    from orchestrator.core.recording import read_result

    recorded = read_result(settings.tuning)
    case = recorded.name if recorded.name in tuned_cases else next(iter(tuned_cases))
    if not recorded.tuned or (recorded.name != case and len(tuned_cases) > 1):
        has = f"'{recorded.name}'" if recorded.tuned else "no recorded tuning"
        raise DescriptionError(
            f"{settings.tuning}: expected the tuning of one of the cases {', '.join(tuned_cases)},"
            f" found {has}"
        )
    return {**tuned_cases, case: replace(tuned_cases[case], tuned=recorded.tuned)}


def _nameable(system: System) -> set[str]:
    """Return the names of what may be tuned; the start of the run reports others."""
    names = {
        f"{component.name}.{connector}"
        for component in system.components.values()
        for connector, connector_of_name in component.connectors.items()
        if connector_of_name.causality.is_settable
    }
    return names | {str(line) for line in system.connections}


def with_processes(system: System, components: Collection[str]) -> System:
    """Run components in processes of their own; ``"all"`` means every one."""
    for name in system.components:
        if name in components or EVERY in components:
            system = system.with_options(name, isolation="process")
    return system


class ReadSystem(Struct, eq=False, dict=True):
    """A system before a case changes it.

    written: As its file has it.
    nested: With what its sources say of it.
    flat: The same without nested systems.
    """

    written: System
    nested: System
    flat: System

    @cached_property
    def written_flat(self) -> System | None:
        """As its file has it, without nested systems; ``None`` if that does not fit together."""
        try:
            return self.written.flat()
        except DescriptionError:
            return None


def _all_on_platform(system: System, platform: str) -> System:
    """Let all FMUs of a system and of those within it run their libraries for a platform."""
    for name, component in system.components.items():
        if component.source.kind is SourceKind.FMU:
            system = system.with_options(name, platform=platform)
    inner = {name: _all_on_platform(nested, platform) for name, nested in system.systems.items()}
    return replace(system, systems=inner) if inner else system


class SystemReader:
    """Reads the systems of cases.

    folder: What the paths of the cases are relative to.
    platform: The platform whose libraries all FMUs run; ``None``: what their options say.
    """

    def __init__(self, folder: Path, platform: str | None = None) -> None:
        self.folder = folder
        self.platform = platform
        self._read: dict[tuple[object, ...], ReadSystem] = {}

    def read(self, case: Case) -> ReadSystem:
        """Return the system of a case."""
        platforms = {
            name: table.platform for name, table in case.unit.items() if table.platform is not None
        }
        key = case.system, case.variant, *platforms.items()
        if key not in self._read:
            written = read_system(self.folder / case.system, case.variant)
            if self.platform is not None:
                written = _all_on_platform(written, self.platform)
            for name, platform in platforms.items():  # before a library for this machine is missed
                written = written.with_options(name, platform=platform)
            nested = resolve(written)
            flat = nested.flat()
            expect_fitting_levels(nested)
            self._read[key] = ReadSystem(written, nested, flat)
        return self._read[key]
