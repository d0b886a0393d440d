"""Drawing: systems as block diagrams, for paper and for the browser; what differs between two."""

from typing import TYPE_CHECKING

from orchestrator.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from orchestrator.pictures.drawing.facts import as_prepared as as_prepared
    from orchestrator.pictures.drawing.difference import marked as marked, union_of as union_of
    from orchestrator.pictures.drawing.difference import (
        SystemChange as SystemChange,
        FieldChange as FieldChange,
        change_lines as change_lines,
        differences as differences,
        order_notes as order_notes,
    )
    from orchestrator.pictures.drawing.drawing import Drawing as Drawing, draw_system as draw_system
    from orchestrator.pictures.drawing.facts import Facts as Facts
    from orchestrator.pictures.drawing.page import render_page as render_page
    from orchestrator.pictures.drawing.facts import is_algebraic as is_algebraic
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
