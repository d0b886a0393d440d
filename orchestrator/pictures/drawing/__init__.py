"""Drawing: systems as block diagrams, for paper and for the browser; what differs between two."""

from typing import TYPE_CHECKING

from orchestrator.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from orchestrator.pictures.drawing.difference import (
        SystemChange as SystemChange,
        FieldChange as FieldChange,
        change_lines as change_lines,
        differences as differences,
        marked as marked,
        order_notes as order_notes,
        union_of as union_of,
    )
    from orchestrator.pictures.drawing.drawing import Drawing as Drawing, draw_system as draw_system
    from orchestrator.pictures.drawing.facts import (
        Facts as Facts,
        as_prepared as as_prepared,
        is_algebraic as is_algebraic,
    )
    from orchestrator.pictures.drawing.page import render_page as render_page
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
