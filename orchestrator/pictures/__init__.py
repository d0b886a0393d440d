"""Pictures: block diagrams, scenes, figures, and the pages that show them."""

from typing import TYPE_CHECKING

from orchestrator.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from orchestrator.pictures.maps import plot_maps as plot_maps
    from orchestrator.pictures.panels import (
        Panels as Panels,
        axis_of as axis_of,
        panels_of as panels_of,
    )
    from orchestrator.pictures.plot_drawing import (
        draw_pictures as draw_pictures,
        draw_plot as draw_plot,
        picture as picture,
        save as save,
    )
    from orchestrator.pictures.report import (
        BESIDE as BESIDE,
        render_report as render_report,
        write_report as write_report,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
