"""Drawing: systems as block diagrams, for paper and for the browser; what differs between two."""

from orchestrator.drawing.chains import as_prepared
from orchestrator.drawing.comparison import marked, union_of
from orchestrator.drawing.difference import Change, Field, change_lines, differences, order_notes
from orchestrator.drawing.drawing import Drawing, draw_system
from orchestrator.drawing.facts import Facts
from orchestrator.drawing.page import render_page
from orchestrator.drawing.wording import is_algebraic

__all__ = [
    "Change",
    "Drawing",
    "Facts",
    "Field",
    "as_prepared",
    "change_lines",
    "differences",
    "draw_system",
    "is_algebraic",
    "marked",
    "order_notes",
    "render_page",
    "union_of",
]
