"""What is found out about devices before they are armed."""

from __future__ import annotations

from orchestrator.experiment.extension import Extension, Run
from orchestrator.experiment.identification.before_arming import identified_cases
from orchestrator.experiment.section import Section


class Identification(Extension):
    """Identifies commanded devices where the experiment says so; says what is going to move."""

    follows = ("realtime",)

    def begin(self, run: Run) -> None:
        """Identify them."""
        found = identified_cases(
            run.experiment,
            run.reader.folder,
            run.cases,
            run.settings,
            run.output,
            run.tell,
            run.announce,
        )
        for name, remarks in found.remarks.items():
            run.notes[name] += remarks
        for name, twins in found.twins.items():
            plain = [twin.model_dump(mode="json", exclude_none=True) for twin in twins]
            run.add(name, Section("identified", data=plain or None, value=twins))
        run.outcome.files += found.pages
