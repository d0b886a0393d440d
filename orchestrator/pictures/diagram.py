"""A case as it is drawn: with its nested systems, its loops and the order of its steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import nan
from pathlib import Path

from orchestrator.core.coupling import DelayMode, DelayPlan, LoopDelay
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.master import Plan, compile_schedule, validate_plan
from orchestrator.core.recording import Result
from orchestrator.core.simunits import read_fmu
from orchestrator.core.system import SourceKind, System, closed_loops
from orchestrator.core.system.step_length import step_length
from orchestrator.pictures.drawing import Facts, as_prepared
from orchestrator.study.file.experiment import Case, RunOptions, Setting
from orchestrator.study.prepare.prepare import set_value
from orchestrator.study.prepare.system_reader import ReadSystem


def nested_of(
    case: Case, read: ReadSystem, flat: System, settings: Mapping[str, Setting] | None = None
) -> System:
    """Return the system of a case as it is nested, with what the case changed in the flat one."""
    nested = read.nested
    for path, value in {**case.set, **(settings or {})}.items():
        if "." not in path:
            nested = set_value(nested, path, value)
    return as_prepared(nested, flat, read.flat)


def facts_of_run(system: System, options: RunOptions, result: Result) -> Facts:
    """Facts for the drawing of a case that was run."""
    chosen = options.settings(system)
    stepped = _stepped(system, result.step_ns)
    plan = validate_plan(stepped, chosen.algorithm, chosen.algorithm_options, chosen.rates)
    return _facts(system, chosen.algorithm, plan, result.loops, result.plans)


def facts_of(system: System, options: RunOptions) -> tuple[Facts, str]:
    """Facts for the drawing of a case that was not run."""
    chosen = options.settings(system)
    algorithm, mode = chosen.algorithm, chosen.mode
    run = system.without_zero_delays() if mode is DelayMode.PLAIN else system
    step = options.given_step
    step_ns = system.experiment.step_ns if step is None else step_length(step, "step")
    try:
        stepped = _stepped(run, step_ns)
        plan = validate_plan(stepped, algorithm, chosen.algorithm_options, chosen.rates)
    except DescriptionError as error:
        return _facts(system, "", None, _declared(system), ()), str(error)
    if step_ns is None:
        note = "no communication step is given: what the steps add to the loops is left out"
        return _facts(system, algorithm, plan, _declared(system), ()), note
    try:
        schedule = compile_schedule(
            run, algorithm, step_ns, mode, (), chosen.algorithm_options, chosen.rates
        )
    except DescriptionError as error:
        return _facts(system, algorithm, plan, _declared(system), ()), str(error)
    return _facts(system, algorithm, plan, schedule.loop_delays, schedule.plans), ""


def _stepped(system: System, step_ns: int | None) -> System:
    """Return the system with the step that its components are ordered for."""
    return replace(system, experiment=replace(system.experiment, step_ns=step_ns))


def _declared(system: System) -> tuple[LoopDelay, ...]:
    """Loops with their declared delay; what the steps add is not known."""
    return tuple(LoopDelay((loop,), loop.physical_ns, nan) for loop in closed_loops(system))


def _facts(
    system: System,
    algorithm: str,
    plan: Plan | None,
    loops: tuple[LoopDelay, ...],
    plans: tuple[DelayPlan, ...],
) -> Facts:
    groups = plan.groups if plan else ()
    return Facts(
        loops,
        plans,
        {name: i for i, group in enumerate(groups, start=1) for name in group.members},
        frozenset(name for group in groups if group.loop for name in group.members),
        algorithm,
        details={name: facts for name in system.components if (facts := _fmu(system, name))},
    )


def _fmu(system: System, name: str) -> Mapping[str, str]:
    """What the FMU of a component says of itself."""
    source = system.components[name].source
    if source.kind is not SourceKind.FMU:
        return {}
    fmu = read_fmu(Path(source.location))
    told = fmu.description.details
    facts = {"Model": fmu.description.name, "Kind": told["kind"], "Tool": told["tool"]}
    return {**{name: text for name, text in facts.items() if text}, "GUID": fmu.guid}
