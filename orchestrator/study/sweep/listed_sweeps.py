"""Sweeps of the short form in a run, which imports what sweeps only if it runs their cases."""

from __future__ import annotations

from functools import partial

from orchestrator.study.extension import Extension, Run


class ListedSweeps(Extension):
    """Runs the sweeps whose cases are run."""

    follows = ("verify",)

    def end(self, run: Run) -> None:
        """Run them, behind the cases."""
        for name, sweep in run.experiment.listed_sweeps.items():
            if sweep.case in run.cases:
                from orchestrator.study.sweep.listed import run_listed

                done = partial(run.tell, f"sweep {name}")
                run.outcome.sweeps[name] = run_listed(name, run.experiment, run.cases, done)
