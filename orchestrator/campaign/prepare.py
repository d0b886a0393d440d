"""From a case of an experiment file to the system that runs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path

from orchestrator.authoring import read_system
from orchestrator.campaign.experiment import Case, RunOptions, Setting, Time
from orchestrator.campaign.playback import with_played_input
from orchestrator.campaign.swap import swap_component
from orchestrator.errors import DescriptionError, SspError, UnknownNameError
from orchestrator.simunits import resolve
from orchestrator.ssp import apply_parameter_set
from orchestrator.system import (
    Connector,
    DataType,
    Endpoint,
    Source,
    System,
    Value,
    with_starts,
)
from orchestrator.system.checks import expected_value

_LOGGER = logging.getLogger(__name__)

#: Stands for all components on the command line.
EVERY = "all"


def prepare(
    name: str, case: Case, folder: Path, swaps: Mapping[str, str], settings: Mapping[str, Setting]
) -> System:
    """Read a case's system, change it as the case says, and check the whole.

    Parameters
    ----------
    name, case
        The case.
    folder
        Folder of the experiment file; the case's ``system`` is relative to it.
    swaps, settings
        Those of the command line, applied after the case's own where the component exists.

    Raises
    ------
    DescriptionError, LoadError
        If anything does not exist or does not fit, all together; the message names the case.
    """
    system = prepare_open(name, case, folder, swaps, settings)
    system = _with_starts(name, system, closed=True)
    try:
        return system.closed().check(algebraic_loops=True)  # its algorithm may solve them
    except DescriptionError as error:
        raise _of_case(name, error.problems) from None


def prepare_open(
    name: str, case: Case, folder: Path, swaps: Mapping[str, str], settings: Mapping[str, Setting]
) -> System:
    """Do the same but keep the system's own connectors, for those who feed them from outside.

    The whole is not checked yet.
    """
    try:
        system = resolve(read_system(folder / case.system, case.variant)).flat()
    except DescriptionError as error:
        raise _of_case(name, error.problems) from None
    problems: list[str] = []
    for change in _changes(case, folder, swaps, settings):
        try:
            system = change(system)
        except DescriptionError as error:
            problems += error.problems
        except SspError as error:  # of a parameter set
            problems += str(error).splitlines()
    if problems:
        raise _of_case(name, problems)
    return _with_starts(name, system, closed=False)


def _with_starts(name: str, system: System, *, closed: bool) -> System:
    system, kept = with_starts(system, closed=closed)
    if kept:
        _LOGGER.warning(
            "case '%s': nothing feeds these inputs, they keep what their FMUs begin with: %s",
            name,
            ", ".join(kept),
        )
    return system


def prepare_all(
    cases: Mapping[str, Case],
    folder: Path,
    swaps: Mapping[str, str] | None = None,
    settings: Mapping[str, Setting] | None = None,
) -> dict[str, System]:
    """Prepare the systems of several cases, by name; see :func:`prepare`.

    Raises
    ------
    DescriptionError, LoadError
        What is wrong with any of them, all together.
    """
    systems: dict[str, System] = {}
    problems: list[DescriptionError] = []
    for name, case in cases.items():
        try:
            systems[name] = prepare(name, case, folder, swaps or {}, settings or {})
        except DescriptionError as error:
            problems.append(error)
    if problems:
        raise DescriptionError.collect(problems)
    return systems


def _of_case(name: str, problems: Iterable[str]) -> DescriptionError:
    return DescriptionError(*(f"case '{name}': {text}" for text in problems))


def _changes(
    case: Case, folder: Path, swaps: Mapping[str, str], settings: Mapping[str, Setting]
) -> Iterator[Callable[[System], System]]:
    """What a case makes of its system, and then the command line, in order."""
    for component, text in case.swap.items():
        source = Source.parse(text).resolved(folder)
        yield partial(swap_component, name=component, source=source)
    for component, text in swaps.items():
        yield partial(_swapped, component=component, text=text)
    for file in case.parameters:
        yield partial(apply_parameter_set, values=folder / file, strict=True)
    for path, value in case.set.items():
        yield partial(set_value, path=path, value=value)
    for path, value in settings.items():
        yield partial(_set_where_it_is, path=path, value=value)
    for name, played in case.input.items():
        settled = name in case.set
        yield partial(with_played_input, name=name, table=played, folder=folder, is_set=settled)
    for component, table in case.unit.items():
        changes = table.model_dump(exclude_unset=True)
        yield partial(_with_options, component=component, changes=changes)
    for line, delay in case.delays.items():
        yield partial(_with_delay, line=line, delay=delay)


def _swapped(system: System, component: str, text: str) -> System:
    if component not in system.components:
        return system
    return swap_component(system, component, Source.parse(text).resolved(Path.cwd()))


def _set_where_it_is(system: System, path: str, value: Setting) -> System:
    """Set a value of the command line, which is for every case that has the component."""
    if "." in path and Endpoint.parse(path).component not in system.components:
        return system
    return set_value(system, path, value)


def _with_options(system: System, component: str, changes: Mapping[str, object]) -> System:
    return system.with_options(component, **changes)


def _with_delay(system: System, line: str, delay: Time) -> System:
    source, _, target = line.partition("->")
    return system.with_delay(source.strip(), target.strip(), delay)


def with_processes(system: System, components: Collection[str]) -> System:
    """Run components in processes of their own; ``"all"`` means every one."""
    for name in system.components:
        if name in components or EVERY in components:
            system = system.with_options(name, isolation="process")
    return system


def set_value(system: System, path: str, value: Setting) -> System:
    """Set a parameter or an input from a value as it stands in a file or on the command line.

    A name without a dot is that of a connector of the system itself.
    """
    if "." not in path:
        return _set_own(system, path, value)
    end = Endpoint.parse(path)
    connector = system.component(end.component).connector(end.connector)
    return system.set(path, _converted(connector, value))


def _set_own(system: System, name: str, value: Setting) -> System:
    settable = {n: c for n, c in system.connectors.items() if c.causality.is_settable}
    if name not in settable:
        close = get_close_matches(name, [*settable, *system.components], n=1)
        hint = f"; did you mean '{close[0]}'?" if close else ""
        raise UnknownNameError(
            f"'{name}': expected 'component.parameter', or an input or parameter of system"
            f" '{system.name}' itself, which has: {', '.join(settable) or 'none'}{hint}"
        )
    connector = settable[name]
    converted = _converted(connector, value)
    if not connector.accepts(converted):
        expected = expected_value(connector)
        raise DescriptionError(f"{name}: expected {expected}, found {converted!r}")
    return replace(system, values={**system.values, name: converted})


def _converted(connector: Connector, value: Setting) -> Value:
    """Read text as the connector's type; other values pass unchanged and are checked later."""
    if not isinstance(value, str) or connector.type is DataType.STRING:
        return value
    if connector.type is DataType.BOOLEAN:
        return {"true": True, "false": False}.get(value.lower(), value)
    try:
        return int(value) if connector.type is DataType.INTEGER else float(value)
    except ValueError:
        return value


def merged(case: RunOptions, defaults: RunOptions) -> RunOptions:
    """Options of a case, completed by the experiment's defaults."""
    own = {key: getattr(case, key) for key in RunOptions.model_fields}
    return RunOptions.model_validate(
        {key: value if value is not None else getattr(defaults, key) for key, value in own.items()}
    )
