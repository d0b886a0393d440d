"""What an extension found in a case, for the terminal, the page and ``summary.json`` alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchestrator.study.content import Plot

Cell = str | float | None


@dataclass(frozen=True, slots=True)
class Section:
    """A table with its notes, and the same as plain data and as objects.

    Parameters
    ----------
    key
        What it is found by; with ``data`` its entry of the case in ``summary.json``.
    heading, columns, rows, note, remarks
        The table of the page, a text and a list below it; without columns there is none.
    plots
        What the page shows of the case, with captions, by the names of their pictures' files.
    formats
        How the terminal prints each column, as of :meth:`str.format`; shorter: the last one again.
    printed
        Rows that the terminal prints; 0: it prints nothing.
    lines
        Sentences that the terminal prints below the rows.
    data
        For JSON.
    value
        For Python: see :meth:`~orchestrator.study.CaseOutcome.value`.
    """

    key: str
    heading: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    note: str = ""
    remarks: tuple[str, ...] = ()
    plots: Mapping[str, tuple[Plot, str]] = field(default_factory=dict)
    formats: tuple[str, ...] = ("{:.6g}",)
    printed: int = 0
    lines: tuple[str, ...] = ()
    data: Any = None
    value: Any = None

    def texts(self) -> list[list[str]]:
        """Return the rows that are printed, as text."""
        last = self.formats[-1]
        formats = [*self.formats, *[last] * (len(self.columns) - len(self.formats))]
        return [
            [
                cell if isinstance(cell, str) else "-" if cell is None else text.format(cell)
                for cell, text in zip(row, formats, strict=True)
            ]
            for row in self.rows[: self.printed]
        ]
