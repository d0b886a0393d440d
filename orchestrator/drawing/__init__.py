"""Drawing: systems as block diagrams, for paper and for the browser."""

from orchestrator.drawing.chains import as_prepared
from orchestrator.drawing.drawing import Drawing, draw_system
from orchestrator.drawing.facts import Facts
from orchestrator.drawing.page import render_page
from orchestrator.drawing.wording import is_algebraic

__all__ = ["Drawing", "Facts", "as_prepared", "draw_system", "is_algebraic", "render_page"]
