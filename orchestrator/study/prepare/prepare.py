"""From a case of an experiment file to the system that runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from orchestrator.author.reading import value_of
from orchestrator.core.diagnostics import (
    DescriptionError,
    Diagnostic,
    LoadError,
    SspError,
    UnknownNameError,
    choices_for,
)
from orchestrator.core.diagnostics.validation import Time
from orchestrator.core.simunits import component_of
from orchestrator.core.ssp import apply_parameter_set
from orchestrator.core.structs import replace
from orchestrator.core.system import (
    Connector,
    Endpoint,
    Source,
    SourceKind,
    System,
    Value,
    connection_name,
    with_starts,
    without_starts,
)
from orchestrator.core.system.checks import value_misfit
from orchestrator.study import upward
from orchestrator.study.content import Section
from orchestrator.study.experiment import (
    AUTO,
    Case,
    Experiment,
    ParameterFile,
    RunOptions,
    Setting,
)
from orchestrator.study.prepare.inputs import with_played_input, with_rests
from orchestrator.study.prepare.prepared_case import (
    AS_WRITTEN,
    EmulatorPlan,
    PreparedCase,
    RunSettings,
    SystemReader,
)


def prepare(
    name: str,
    case: Case,
    folder: str | Path,
    swaps: Mapping[str, str] | None = None,
    settings: Mapping[str, Setting] | None = None,
    delays: Mapping[str, Time] | None = None,
    parameters: Sequence[ParameterFile] = (),
) -> System:
    """Read the system of a case, apply the changes of the case, and check the result.

    Parameters
    ----------
    name, case
        The case.
    folder
        Folder of the experiment file; the case's ``system`` is relative to it.
    swaps, settings, delays, parameters
        Those of the command line, applied after the case's own: swaps, settings and delays where
        the component or the connection exists, parameter sets before settings.

    Raises
    ------
    DescriptionError, LoadError
        If anything does not exist or does not fit, all together; the message names the case.
    """
    run_settings = RunSettings(settings or {}, swaps or {}, delays or {}, parameters)
    return prepare_with(name, case, SystemReader(Path(folder)), run_settings)


def prepare_with(
    name: str,
    case: Case,
    reader: SystemReader,
    settings: RunSettings = AS_WRITTEN,
    rig: Experiment | Case | None = None,
) -> System:
    """Prepare a case whose system others may run, too; see :func:`prepare`.

    ``rig`` is what says of hardware: the whole experiment, or another case; default: this one.
    """
    opened = prepare_open(name, case, reader, settings)
    try:
        kinds = {component.source.kind for component in opened.components.values()}
        if kinds & {SourceKind.DEVICE, SourceKind.TWIN}:
            opened = upward.on_hardware(opened, rig or case, reader.folder, case, settings)
        system, starts = with_starts(opened)
        checked = system.closed().check(algebraic_loops=True)  # its algorithm may solve them
    except DescriptionError as error:
        raise DescriptionError(*error.within(f"case '{name}'")) from None
    return without_starts(checked, starts)  # the run gives and notes them


def prepare_open(
    name: str, case: Case, reader: SystemReader, settings: RunSettings = AS_WRITTEN
) -> System:
    """Do the same but keep the system's own connectors, for those who feed them from outside.

    The whole is not checked yet.
    """
    try:
        system = reader.read(case).flat
    except (DescriptionError, LoadError) as error:
        raise type(error)(*error.within(f"case '{name}'")) from None
    problems: list[Diagnostic] = []
    for change in _changes(case, reader.folder, settings):
        try:
            system = change(system)
        except (DescriptionError, SspError) as error:  # the latter of a parameter set
            problems += error.within(f"case '{name}'")
    if problems:
        raise DescriptionError(*problems)
    return system


def prepare_all(
    experiment: Experiment,
    names: Collection[str],
    reader: SystemReader,
    settings: RunSettings = AS_WRITTEN,
) -> dict[str, PreparedCase]:
    """Prepare cases of an experiment, by name; see :func:`prepare`."""
    prepared: dict[str, PreparedCase] = {}
    problems: list[DescriptionError | LoadError] = []
    for name in names:
        try:
            case, emulators = with_emulators(experiment, name)
            system = prepare_with(name, case, reader, settings, experiment)
            _expect_rests(name, system, case)
        except (DescriptionError, LoadError) as error:
            problems.append(error)
        else:
            options = merged(case, experiment.defaults)
            prepared[name] = PreparedCase(name, case, options, system, emulators)
    if problems:
        raise DescriptionError.collect(problems)
    expect_lines(settings.delays, {name: case.system for name, case in prepared.items()})
    return prepared


def with_emulators(experiment: Experiment, name: str) -> tuple[Case, dict[str, EmulatorPlan]]:
    """Return a case whose devices find its emulators, and how these are started, by component."""
    case = experiment.case[name]
    if not (case.emulators or experiment.emulators.keys() & case.devices.keys()):
        return case, {}
    return upward.with_emulators(experiment, name, case)


def _expect_rests(name: str, system: System, case: Case) -> None:
    """Expect that inputs can be led to rest; that is done when the case is run with its devices."""
    try:
        with_rests(system, case.rest)
    except DescriptionError as error:
        raise DescriptionError(*error.within(f"case '{name}'")) from None


def with_chosen_steps(
    experiment: Experiment, cases: Mapping[str, PreparedCase]
) -> tuple[Experiment, dict[str, PreparedCase], dict[str, Section]]:
    """Give every case whose step is ``auto`` the one that its loops allow, and say which."""
    if all(case.options.step != AUTO for case in cases.values()):
        return experiment, dict(cases), {}
    return upward.with_chosen_steps(experiment, cases)


def case_notes(
    experiment: Experiment,
    case: PreparedCase,
    reader: SystemReader,
    settings: RunSettings,
    choice: Section | None,
) -> tuple[str, ...]:
    """Return what a result says of how its case was prepared, most important first."""
    notes = tuple(settings.notes)
    if experiment.names_twins:
        notes += upward.notes_on_delays(case.system, experiment, reader.folder)
    if experiment.derived or settings.values:
        written = reader.read(case.case).written_flat
        notes += tuple(kept_values(experiment.derived, written, case.system, settings.values))
    return notes if choice is None else (choice.note, *notes)


def expect_lines(delays: Mapping[str, Time], systems: Mapping[str, System]) -> None:
    """Expect that some system has each connection whose delay the command line sets."""
    names = dict.fromkeys(str(line) for system in systems.values() for line in system.connections)
    for text in delays:
        line = connection_name(text)
        if line not in names:
            raise UnknownNameError(
                f"no case has a connection '{line}'{choices_for(line, names, 'connection')}"
            )


def _parameters(folder: Path, parameter_file: str | ParameterFile) -> Callable[[System], System]:
    file = ParameterFile(file=parameter_file) if isinstance(parameter_file, str) else parameter_file
    return partial(
        apply_parameter_set,
        values=folder / file.file,
        mapping=None if file.mapping is None else folder / file.mapping,
        prefix=file.prefix,
        strict=True,
    )


def _changes(
    case: Case, folder: Path, settings: RunSettings
) -> Iterator[Callable[[System], System]]:
    """What a case makes of its system, and then the command line, in order."""
    yield partial(_without_values, names=case.input)
    yield partial(_without_lines, lines=case.physical)

    for component, text in case.swap.items():
        source = Source.parse(text).resolved(folder)
        yield partial(swap_component, name=component, source=source)
    for component, device in case.devices.items():
        yield partial(upward.with_device, name=component, table=device)
    for component, text in settings.swaps.items():
        yield partial(_swapped, component=component, text=text)
    yield from map(partial(_parameters, folder), case.parameters)
    for path, value in case.set.items():
        yield partial(set_value, path=path, value=value)
    yield from map(partial(_parameters, Path()), settings.parameters)
    for path, value in settings.values.items():
        yield partial(_set_where_it_is, path=path, value=value)
    for name, played in case.input.items():
        yield partial(with_played_input, name=name, table=played, folder=folder)
    for component, table in case.unit.items():
        changes = table.model_dump(exclude_unset=True)
        yield partial(System.with_options, path=component, **changes)
    for line, delay in case.delays.items():
        yield partial(_with_delay, line=line, delay=delay)
    for line, delay in settings.delays.items():
        yield partial(_with_delay_where_it_is, line=line, delay=delay)


def _without_values(system: System, names: Collection[str]) -> System:
    """Take the values of inputs away that files are played to: who sets one now is refused."""
    values = {name: value for name, value in system.values.items() if name not in names}
    return replace(system, values=values)


def _without_lines(system: System, lines: Collection[str]) -> System:
    """Take away what the hardware itself transmits."""
    for line in lines:
        source, _, target = connection_name(line).partition(" -> ")
        system = system.disconnect(source, target)
    return system


def _swapped(system: System, component: str, text: str) -> System:
    if component not in system.components:
        return system
    return swap_component(system, component, Source.parse(text).resolved(Path.cwd()))


def _set_where_it_is(system: System, path: str, value: Setting) -> System:
    """Set a value of the command line, which is for every case that has the component."""
    if "." in path and Endpoint.parse(path).component not in system.components:
        return system
    return set_value(system, path, value)


def _with_delay(system: System, line: str, delay: Time) -> System:
    source, _, target = connection_name(line).partition(" -> ")
    return system.with_delay(source, target, delay)


def _with_delay_where_it_is(system: System, line: str, delay: Time) -> System:
    """Set a delay of the command line, which is for every case that has the connection."""
    name = connection_name(line)
    is_there = any(str(connection) == name for connection in system.connections)
    return _with_delay(system, line, delay) if is_there else system


def set_value(system: System, path: str, value: Setting) -> System:
    """Set a parameter or an input from a value as it stands in a file or on the command line.

    A name without a dot is that of a connector of the system itself.
    """
    if "." not in path:
        return _set_own(system, path, value)
    end = Endpoint.parse(path)
    connector = system.component(end.component).connector(end.connector)
    return system.set(path, _read(value, connector, path))


def _set_own(system: System, name: str, value: Setting) -> System:
    settable = {n: c for n, c in system.connectors.items() if c.causality.is_settable}
    if name not in settable:
        choices = choices_for(name, [*settable, *system.components], "name")
        raise UnknownNameError(
            f"'{name}': expected 'component.parameter', or an input or parameter of system"
            f" '{system.name}' itself{choices}"
        )
    connector = settable[name]
    converted = _read(value, connector, name)
    if not connector.accepts(converted):
        raise DescriptionError(f"{name}: {value_misfit(connector, converted)}")
    return replace(system, values={**system.values, name: converted})


def _read(value: Setting, connector: Connector, path: str) -> Value:
    """Read text as on a command line; other values pass unchanged and are checked later."""
    return value_of(value, connector, path) if isinstance(value, str) else value


def merged(case: RunOptions, defaults: RunOptions) -> RunOptions:
    """Options of a case, completed by the experiment's defaults."""
    case_options = {key: getattr(case, key) for key in RunOptions.model_fields}
    return RunOptions.model_validate(
        {
            key: value if value is not None else getattr(defaults, key)
            for key, value in case_options.items()
        }
    )


def swap_component(system: System, name: str, source: Source | str) -> System:
    """Replace a component's source by name, or by a path in nested systems.

    ``source`` may be text: a path that ends in ``.fmu``, or ``"block:NAME"``,
    ``"block:FILE.py:CLASS"`` or ``"block:MODULE:CLASS"``; ``"device:NAME?key=value&key=value"``
    with the settings of a device; or ``"log:FILE"``, a recorded result. :meth:`System.swap`
    describes which ports and parameters must agree.

    Raises
    ------
    DescriptionError
        If the component does not exist, or ports are missing or differ; all together.
    """
    if isinstance(source, str):
        source = Source.parse(source)
    old = system.component(name)
    return system.swap(name, component_of(source, old.name, like=old))


#: Numbers that many parameters have without a reason in common.
_COMMON = {0.0, 1.0, -1.0}
Derived = Mapping[str, Sequence[str]]


def kept_values(
    derived: Derived, written: System | None, system: System, settings: Collection[str]
) -> list[str]:
    """Say which parameters keep values that were made from others, or shared, before a change."""
    if written is None:
        return []
    before, after = _values(written), _values(system)
    connectors = {
        f"{name}.{key}": connector
        for name, component in system.components.items()
        for key, connector in component.connectors.items()
    }
    starts = {path: connector.start for path, connector in connectors.items()}
    units = {path: connector.unit for path, connector in connectors.items()}
    changed = {p: value for p, value in before.items() if p in after and after[p] != value}
    new = [p for p in after if p not in before and (p not in starts or starts[p] != after[p])]
    paths = [path for path in after if path not in changed and path not in new]
    sentences = []
    for path in (*changed, *new):
        stale = {path}
        while more := {
            name
            for name, sources in derived.items()
            if name not in stale and name in paths and stale & set(sources)
        }:
            stale |= more
        listed = [f"{name} = {after[name]!r}" for name in derived if name in stale - {path}]
        if listed:
            sentences.append(
                f"{path} is changed, but values computed from it are not:"
                f" {', '.join(listed)}; set these, too"
            )
    for path, value in changed.items():
        numbers = value if isinstance(value, tuple) else (value,)
        if path not in settings or all(
            isinstance(n, bool | str | bytes) or n in _COMMON for n in numbers
        ):
            continue
        same = [n for n in paths if after[n] == value and units.get(n) == units.get(path)]
        if same:
            sentences.append(
                f"{path} is changed, but other parameters keep its old value, {value!r}:"
                f" {', '.join(same)}; set these, too, if it is the same quantity"
            )
    return sentences


def _values(system: System) -> dict[str, Value]:
    return {
        f"{name}.{key}": value
        for name, component in system.components.items()
        for key, value in component.values.items()
    }


def wrong_derived(derived: Derived, systems: Mapping[str, System]) -> Iterator[str]:
    """Say what ``[derived]`` names that no system has, of components that some system has."""
    connectors_of: dict[str, set[str]] = {}
    for system in systems.values():
        for name, component in system.components.items():
            connectors_of.setdefault(name, set()).update(component.connectors)
    for path in dict.fromkeys(p for target, sources in derived.items() for p in (target, *sources)):
        name, dot, connector = path.partition(".")
        if not dot:
            yield f"derived: expected 'component.parameter', found '{path}'"
        elif name in connectors_of and connector not in connectors_of[name]:
            choices = choices_for(connector, sorted(connectors_of[name]), "connector", "its")
            yield f"derived: component '{name}' has no connector '{connector}'{choices}"
