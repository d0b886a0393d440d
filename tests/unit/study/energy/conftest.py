"""Ledgers of runs."""

from orchestrator.core.simunits import resolve
from orchestrator.study import simulate
from orchestrator.study.energy import automatic_plan, energy_ledger


def ledger_of(system, stop, plan=None, delay="mean", step="1 ms"):
    """Run a system with all inputs of a plan recorded."""
    system = resolve(system).flat()
    plan = automatic_plan(system) if plan is None else plan
    fed = {str(line.target) for line in system.connections}
    record = ["*", *(name for name in plan.connectors if name in fed)]
    result = simulate(system, step=step, stop=stop, delay=delay, record=record)
    return energy_ledger(result, system, plan), result


def total(ledger, kind):
    return float(ledger.total(kind)[-1])
