"""What a run shows, as data: plots, tables, what stands in a report."""

from typing import TYPE_CHECKING

from orchestrator.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from orchestrator.study.content.map_content import (
        MapAxis as MapAxis,
        MapLook as MapLook,
        MapPanel as MapPanel,
    )
    from orchestrator.study.content.report_content import (
        Curve as Curve,
        PALETTE as PALETTE,
        Panel as Panel,
        Plot as Plot,
        Reference as Reference,
        Span as Span,
    )
    from orchestrator.study.content.report_content import (
        CaseSection as CaseSection,
        EnergyRow as EnergyRow,
        FigureItem as FigureItem,
        FileItem as FileItem,
        FmuItem as FmuItem,
        Measure as Measure,
        Report as Report,
        TableItem as TableItem,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
