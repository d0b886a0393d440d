"""The tables ``[tuning."NAME"]``: within which limits a value is changed while a run goes on."""

from __future__ import annotations

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.system import nanoseconds
from orchestrator.core.system.ports import Limits
from orchestrator.study.file.table import Table, Time


class TuningTable(Table):
    """The ends of a range, in the connector's own unit; of a delay seconds, or text."""

    minimum: Time | None = None
    maximum: Time | None = None

    def limits(self, name: str) -> Limits | None:
        """Return the range, of a delay in nanoseconds; ``None``: it has no end."""
        ends = []
        for key, end in (("minimum", self.minimum), ("maximum", self.maximum)):
            where = f'tuning."{name}".{key}'
            if isinstance(end, str) and "->" not in name:
                raise DescriptionError(f"{where}: expected a number, found '{end}'")
            is_time = end is not None and "->" in name
            ends.append(nanoseconds(end, where) if is_time else end)  # type: ignore[arg-type]
        try:
            return Limits.of(*ends)  # type: ignore[arg-type]
        except DescriptionError as error:
            raise DescriptionError(f'tuning."{name}": {error}') from None
