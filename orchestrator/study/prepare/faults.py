"""The faults of a case: from its tables to values, and whether they can act."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from orchestrator.core.coupling import fault_records
from orchestrator.core.diagnostics import DescriptionError, Diagnostic, Problem
from orchestrator.core.diagnostics.toml_key import toml_key
from orchestrator.core.master import fault_refusals, validate_plan
from orchestrator.core.system import Fault
from orchestrator.study.file.experiment import Case
from orchestrator.study.prepare.prepared_case import PreparedCase
from orchestrator.study.prepare.simulate import horizon


def faults_of(case: Case) -> list[Fault]:
    """Return the faults of a case, in the order of the file."""
    faults: list[Fault] = []
    problems: list[Diagnostic] = []
    for label, table in case.fault.items():
        given = table.model_dump(exclude_none=True)
        kind, places, begin = (given.pop(key) for key in ("kind", "on", "begin"))
        try:
            faults += [
                Fault.of(kind, on, begin, label=label, **given)
                for on in ((places,) if isinstance(places, str) else places)
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
    chosen = options.settings(system)
    try:
        plan = validate_plan(system, chosen.algorithm, chosen.algorithm_options, chosen.rates)
        start_ns, stop_ns, step_ns = horizon(system, options.start, options.stop, options.step)
    except DescriptionError:
        return  # reported with the options
    if refused := fault_refusals(system, chosen.algorithm, plan, faults):
        yield from refused
        return
    try:
        fault_records(
            faults, system, start_ns, stop_ns, None if plan.step_size_control else step_ns
        )
    except DescriptionError as error:
        yield from error.diagnostics
