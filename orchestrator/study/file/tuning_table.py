"""The tables ``[tuning."NAME"]``: within which limits a value is changed while a run goes on."""

from __future__ import annotations

from orchestrator.study.file.table import Table, Time


class TuningTable(Table):
    """The ends of a range, in the connector's own unit; of a delay seconds, or text."""

    minimum: Time | None = None
    maximum: Time | None = None
