"""Pages that show how a case moves."""

from __future__ import annotations

from orchestrator.animation import expect_viewer
from orchestrator.diagnostics import DescriptionError
from orchestrator.experiment.extension import Extension, Run
from orchestrator.experiment.output.animations import drawable, write_animation


class Animations(Extension):
    """Draws the experiment's animations whose cases are run."""

    follows = ("verify", "sweep")

    def begin(self, run: Run) -> None:
        """Expect that they can be drawn."""
        if drawable(run.experiment, {name: case.case for name, case in run.cases.items()}):
            expect_viewer()

    def end(self, run: Run) -> None:
        """Draw them."""
        assert run.draft is not None  # noqa: S101 - cases have been run
        results = {name: case.result for name, case in run.outcome.cases.items()}
        titles = {name: case.title for name, case in run.outcome.cases.items()}
        chosen = drawable(run.experiment, results)
        for number, (name, table) in enumerate(chosen.items()):
            folder = run.draft.folder
            try:
                run.outcome.files.append(write_animation(name, table, results, titles, folder))
            except DescriptionError as error:
                run.outcome.problems += error.problems
            run.tell("animating", (number + 1) / len(chosen))
