"""Recording: what a run leaves behind - results, files, pictures, reports.

pandas, pyarrow, matplotlib and jinja2 are imported where they are used, so that this package is
imported quickly.
"""

from typing import TYPE_CHECKING

from orchestrator.lazy_names import lazy_names
from orchestrator.recording.origin import origin, versions
from orchestrator.recording.whole_folder import Draft, link, whole_folder

if TYPE_CHECKING:
    from orchestrator.recording.atomic import whole_file
    from orchestrator.recording.csv import write_csv
    from orchestrator.recording.decimation import decimate
    from orchestrator.recording.figure import picture, plot_xy, save
    from orchestrator.recording.formats import format_names, writer
    from orchestrator.recording.journal import Journal
    from orchestrator.recording.map_content import MapAxis, MapLook, MapPanel
    from orchestrator.recording.maps import plot_maps
    from orchestrator.recording.mat import LARGEST_MATRIX, write_mat
    from orchestrator.recording.panels import Panels, axis_of, panels_of
    from orchestrator.recording.parameters import ParameterRow, parameters_of
    from orchestrator.recording.parquet import read_parquet, read_result, write_parquet
    from orchestrator.recording.plot_parts import PALETTE, Curve, Panel, Reference, Span
    from orchestrator.recording.report import LARGEST_SVG, render_report, write_report
    from orchestrator.recording.report_content import (
        CaseSection,
        EnergyRow,
        FigureItem,
        FileItem,
        FmuItem,
        Measure,
        Report,
        TableItem,
    )
    from orchestrator.recording.result import Result
    from orchestrator.recording.signal_plot import plot_signals
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "orchestrator.recording.atomic": "whole_file",
            "orchestrator.recording.csv": "write_csv",
            "orchestrator.recording.decimation": "decimate",
            "orchestrator.recording.figure": "picture plot_xy save",
            "orchestrator.recording.formats": "format_names writer",
            "orchestrator.recording.journal": "Journal",
            "orchestrator.recording.map_content": "MapAxis MapLook MapPanel",
            "orchestrator.recording.maps": "plot_maps",
            "orchestrator.recording.mat": "LARGEST_MATRIX write_mat",
            "orchestrator.recording.panels": "Panels axis_of panels_of",
            "orchestrator.recording.parameters": "ParameterRow parameters_of",
            "orchestrator.recording.parquet": "read_parquet read_result write_parquet",
            "orchestrator.recording.plot_parts": "PALETTE Curve Panel Reference Span",
            "orchestrator.recording.report": "LARGEST_SVG render_report write_report",
            "orchestrator.recording.report_content": (
                "CaseSection EnergyRow FigureItem FileItem FmuItem Measure Report TableItem"
            ),
            "orchestrator.recording.result": "Result",
            "orchestrator.recording.signal_plot": "plot_signals",
        },
    )

__all__ = [
    "LARGEST_MATRIX",
    "LARGEST_SVG",
    "PALETTE",
    "CaseSection",
    "Curve",
    "Draft",
    "EnergyRow",
    "FigureItem",
    "FileItem",
    "FmuItem",
    "Journal",
    "MapAxis",
    "MapLook",
    "MapPanel",
    "Measure",
    "Panel",
    "Panels",
    "ParameterRow",
    "Reference",
    "Report",
    "Result",
    "Span",
    "TableItem",
    "axis_of",
    "decimate",
    "format_names",
    "link",
    "origin",
    "panels_of",
    "parameters_of",
    "picture",
    "plot_maps",
    "plot_signals",
    "plot_xy",
    "read_parquet",
    "read_result",
    "render_report",
    "save",
    "versions",
    "whole_file",
    "whole_folder",
    "write_csv",
    "write_mat",
    "write_parquet",
    "write_report",
    "writer",
]
