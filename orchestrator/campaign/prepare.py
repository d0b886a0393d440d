"""From a case of an experiment file to the system that runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from orchestrator.authoring import read_system
from orchestrator.campaign.experiment import Case, RunOptions, Setting
from orchestrator.campaign.swap import swap_component
from orchestrator.errors import DescriptionError, UnknownNameError
from orchestrator.simunits import resolve
from orchestrator.system import Connector, DataType, Endpoint, Source, System, Value
from orchestrator.system.checks import expected_value

#: Stands for all components on the command line.
EVERY = "all"


def prepare(
    name: str, case: Case, folder: Path, swaps: Mapping[str, str], settings: Mapping[str, Setting]
) -> System:
    """Read a case's system, swap, set, choose options and delay, and check the whole.

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
        If anything does not exist or does not fit; the message names the case.
    """
    try:
        system = resolve(read_system(folder / case.system, case.variant)).flat()
        for component, text in case.swap.items():
            system = swap_component(system, component, Source.parse(text).resolved(folder))
        for component, text in swaps.items():
            if component in system.components:
                system = swap_component(system, component, Source.parse(text).resolved(Path.cwd()))
        for path, value in case.set.items():
            system = set_value(system, path, value)
        for path, value in settings.items():
            if "." not in path or Endpoint.parse(path).component in system.components:
                system = set_value(system, path, value)
        for component, table in case.unit.items():
            system = system.with_options(component, **table.model_dump(exclude_unset=True))
        for line, delay in case.delays.items():
            source, _, target = line.partition("->")
            system = system.with_delay(source.strip(), target.strip(), delay)
        return system.closed().check(algebraic_loops=True)  # its algorithm may solve them
    except DescriptionError as error:
        raise DescriptionError(*(f"case '{name}': {text}" for text in error.problems)) from None


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
