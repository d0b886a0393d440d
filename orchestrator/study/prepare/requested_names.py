"""Names that are asked for on the command line: cases and components that must be there."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from orchestrator.core.diagnostics import DescriptionError, UnknownNameError
from orchestrator.core.system import Endpoint, System, nearest
from orchestrator.study.file.experiment import Case, Experiment
from orchestrator.study.prepare.prepared_case import PreparedCase
from orchestrator.study.prepare.run_settings import RunSettings

#: Stands for all components on the command line.
EVERY = "all"


def requested_cases(experiment: Experiment, only: Collection[str]) -> dict[str, Case]:
    """Return cases by name, all if ``only`` is empty."""
    unknown = [name for name in only if name not in experiment.case]
    if unknown:
        listed = ", ".join(f"'{name}'" for name in unknown)
        raise UnknownNameError(
            f"no case {listed}{nearest(unknown[0], experiment.case)};"
            f" the experiment has: {', '.join(experiment.case)}"
        )
    return {name: case for name, case in experiment.case.items() if not only or name in only}


def expect_components(settings: RunSettings, systems: Mapping[str, System]) -> None:
    """Expect that some system has each component that the command line swaps or sets."""
    named = (Endpoint.parse(path).component for path in settings.values if "." in path)
    _expect_known([*settings.swaps, *named], systems)


def expect_isolated(settings: RunSettings, systems: Mapping[str, System]) -> None:
    """Expect that some system has each component that is to run in a process of its own."""
    _expect_known([name for name in settings.isolated if name != EVERY], systems)


def _expect_known(names: Collection[str], systems: Mapping[str, System]) -> None:
    known = {name for system in systems.values() for name in system.components}
    for name in names:
        if name not in known:
            raise UnknownNameError(
                f"no case has a component '{name}'{nearest(name, known)};"
                f" components: {', '.join(sorted(known))}"
            )


def with_tuning(
    experiment: Experiment, cases: Mapping[str, PreparedCase], settings: RunSettings
) -> dict[str, PreparedCase]:
    """Give cases the limits within which they are tuned, and what was tuned in another run."""
    limits = {name: table.limits(name) for name, table in experiment.tuning.items()}
    found: dict[str, PreparedCase] = {}
    known: set[str] = set()
    for case, one in cases.items():
        own = _nameable(one.system) if limits else set()
        known |= own
        given = {name: range_ for name, range_ in limits.items() if range_ and name in own}
        found[case] = replace(one, limits=given)
    for name in limits.keys() - known:
        raise UnknownNameError(
            f'tuning."{name}": no case has an input, a parameter or a connection of this name'
            f"{nearest(name, known)}"
        )
    if settings.tuning is None:
        return found
    from orchestrator.core.recording import read_result

    recorded = read_result(settings.tuning)
    case = recorded.name if recorded.name in found else next(iter(found))
    if not recorded.tuned or (recorded.name != case and len(found) > 1):
        has = f"'{recorded.name}'" if recorded.tuned else "nothing that was tuned"
        raise DescriptionError(
            f"{settings.tuning}: expected what was tuned in one of the cases {', '.join(found)},"
            f" found {has}"
        )
    return {**found, case: replace(found[case], tuned=recorded.tuned)}


def _nameable(system: System) -> set[str]:
    """Return the names of what may be tuned; what cannot be is told when the run begins."""
    names = {
        f"{component.name}.{connector}"
        for component in system.components.values()
        for connector, one in component.connectors.items()
        if one.causality.is_settable
    }
    return names | {str(line) for line in system.connections}


def with_processes(system: System, components: Collection[str]) -> System:
    """Run components in processes of their own; ``"all"`` means every one."""
    for name in system.components:
        if name in components or EVERY in components:
            system = system.with_options(name, isolation="process")
    return system
