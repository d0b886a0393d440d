"""Recording: what a run leaves behind - results, files, pictures, reports.

pandas, pyarrow, matplotlib and jinja2 are imported where they are used, so that this package is
imported quickly.
"""

from typing import TYPE_CHECKING

from orchestrator.lazy_names import lazy_names
from orchestrator.recording.origin import origin as origin, versions as versions
from orchestrator.recording.whole_folder import (
    Draft as Draft,
    link as link,
    whole_folder as whole_folder,
)

if TYPE_CHECKING:
    from orchestrator.recording.atomic import whole_file as whole_file
    from orchestrator.recording.csv import write_csv as write_csv
    from orchestrator.recording.decimation import decimate as decimate
    from orchestrator.recording.figure import picture as picture, save as save
    from orchestrator.recording.formats import format_names as format_names, writer as writer
    from orchestrator.recording.journal import Journal as Journal
    from orchestrator.recording.map_content import (
        MapAxis as MapAxis,
        MapLook as MapLook,
        MapPanel as MapPanel,
    )
    from orchestrator.recording.maps import plot_maps as plot_maps
    from orchestrator.recording.mat import LARGEST_MATRIX as LARGEST_MATRIX, write_mat as write_mat
    from orchestrator.recording.panels import (
        Panels as Panels,
        axis_of as axis_of,
        panels_of as panels_of,
    )
    from orchestrator.recording.parameters import (
        ParameterRow as ParameterRow,
        parameters_of as parameters_of,
    )
    from orchestrator.recording.parquet import (
        read_parquet as read_parquet,
        write_parquet as write_parquet,
    )
    from orchestrator.recording.pictures import draw_pictures as draw_pictures
    from orchestrator.recording.plot import (
        PALETTE as PALETTE,
        Curve as Curve,
        Panel as Panel,
        Plot as Plot,
        Reference as Reference,
        Span as Span,
    )
    from orchestrator.recording.plot_drawing import draw_plot as draw_plot
    from orchestrator.recording.read import read_result as read_result
    from orchestrator.recording.report import (
        BESIDE as BESIDE,
        render_report as render_report,
        write_report as write_report,
    )
    from orchestrator.recording.report_content import (
        CaseSection as CaseSection,
        EnergyRow as EnergyRow,
        FigureItem as FigureItem,
        FileItem as FileItem,
        FmuItem as FmuItem,
        Measure as Measure,
        Report as Report,
        TableItem as TableItem,
    )
    from orchestrator.recording.result import Result as Result
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
