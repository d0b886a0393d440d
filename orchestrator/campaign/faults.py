"""The faults of a case: from its tables to values, and whether they can act."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.campaign.experiment import Case, RunOptions
from orchestrator.campaign.simulate import horizon
from orchestrator.coupling import fault_records
from orchestrator.errors import DescriptionError
from orchestrator.master import Chosen, fault_refusals, planned
from orchestrator.system import Fault, System


def faults_of(case: Case) -> list[Fault]:
    """Return the faults of a case, in the order of the file.

    Raises
    ------
    DescriptionError
        If figures are missing, too many or out of range; all together.
    """
    faults: list[Fault] = []
    problems: list[str] = []
    for label, table in case.fault.items():
        given = table.model_dump(exclude_none=True)
        kind, places, begin = (given.pop(key) for key in ("kind", "on", "begin"))
        try:
            faults += [
                Fault.of(kind, on, begin, label=label, **given)
                for on in ((places,) if isinstance(places, str) else places)
            ]
        except DescriptionError as error:
            problems += error.problems
    if problems:
        raise DescriptionError(*problems)
    return faults


def wrong_faults(case: Case, options: RunOptions, system: System) -> Iterator[str]:
    """Say what keeps the faults of a case from acting.

    Parameters
    ----------
    case, options
        The case, and its options completed by the defaults.
    system
        Prepared.
    """
    if not case.fault:
        return
    try:
        faults = faults_of(case)
    except DescriptionError as error:
        yield from error.problems
        return
    chosen = Chosen.of(system, options.algorithm, options.algorithm_options, options.rates)
    try:
        plan = planned(system, chosen.algorithm, chosen.options, chosen.rates)
        start_ns, stop_ns, step_ns = horizon(system, options.start, options.stop, options.step)
    except DescriptionError:
        return  # reported with the options
    if refused := fault_refusals(system, chosen.algorithm, plan, faults):
        yield from refused
        return
    try:
        fault_records(faults, system, start_ns, stop_ns, None if plan.rule else step_ns)
    except DescriptionError as error:
        yield from error.problems
