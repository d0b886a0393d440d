"""From a campaign to its jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from orchestrator.campaign.campaign_table import Axis, Campaign
from orchestrator.campaign.design import placed, points, seeds_of
from orchestrator.campaign.experiment import Experiment, Sweep
from orchestrator.campaign.prepare import merged
from orchestrator.campaign.sweeping import paths_of
from orchestrator.campaign.targets import Variant
from orchestrator.errors import DescriptionError
from orchestrator.sweep.fingerprint import Fingerprints
from orchestrator.sweep.job import Job, Roster
from orchestrator.system import System


@dataclass(frozen=True, slots=True)
class Plan:
    """The jobs of a campaign, in the order of its table; one may stand for several rows."""

    roster: Roster
    jobs: tuple[Job, ...]

    @property
    def distinct(self) -> list[Job]:
        """Each run once: a case that an axis or a seed does not reach is not run again."""
        return list({job.key: job for job in self.jobs}.values())


def cases_needed(campaign: Campaign, experiment: Experiment) -> list[str]:
    """Names of the cases of a campaign, and of those that its measures compare with."""
    measures = [
        experiment.case[name].measure[key]
        for name in campaign.cases
        for key in campaign.measures
        if key in experiment.case[name].measure
    ]
    compared = [measure.to for measure in measures if measure.to is not None]
    return list(dict.fromkeys((*campaign.cases, *compared)))


def campaign_of(sweep: Sweep, experiment: Experiment) -> Campaign:
    """Return a sweep as a campaign of one case and one axis."""
    faults = {f"fault.{label}" for label in experiment.case[sweep.case].fault}
    paths = paths_of(sweep)
    figures = [path for path in paths if path.rpartition(".")[0] in faults]
    axis = Axis(
        label=", ".join(paths),
        set=tuple(p for p in paths if p != "step" and p not in figures),
        fault=tuple(path.removeprefix("fault.") for path in figures),
        step="step" in paths,
        values=sweep.values,
    )
    return Campaign(cases=(sweep.case,), measures=sweep.measures, over={"value": axis})


def plan_of(
    name: str, campaign: Campaign, experiment: Experiment, systems: Mapping[str, System]
) -> Plan:
    """Make all jobs of a campaign.

    Parameters
    ----------
    name, campaign, experiment
        Checked.
    systems
        Prepared, of all cases that it needs.

    Raises
    ------
    DescriptionError
        If a value does not fit; each problem once, the first twenty.
    """
    roster = roster_of(name, campaign, experiment, systems)
    prints = Fingerprints()
    jobs: list[Job] = []
    problems: dict[str, None] = {}
    for point in points(campaign):
        for seed in seeds_of(campaign):
            runs: dict[str, str] = {}
            for case, variant in roster.variants.items():
                try:
                    runs[case] = prints.run(placed(campaign, point, seed, variant))
                except DescriptionError as error:
                    problems |= {f"campaign '{name}': {text}": None for text in error.problems}
            if not problems:
                for case in campaign.cases:
                    mine = {key: runs[key] for key in (case, *roster.others(case))}
                    key = prints.row(mine, dict(roster.measures[case]))
                    jobs.append(Job(key, case, point, seed, mine))
        if len(problems) > 20:
            break
    if problems:
        raise DescriptionError(*problems)
    return Plan(roster, tuple(jobs))


def roster_of(
    name: str, campaign: Campaign, experiment: Experiment, systems: Mapping[str, System]
) -> Roster:
    """Return what the workers need to know."""
    cases = {key: experiment.case[key] for key in cases_needed(campaign, experiment)}
    return Roster(
        name=name,
        campaign=campaign,
        variants={
            key: Variant(case, merged(case, experiment.defaults), systems[key])
            for key, case in cases.items()
        },
        measures={
            key: {m: cases[key].measure[m] for m in campaign.measures if m in cases[key].measure}
            for key in campaign.cases
        },
    )
