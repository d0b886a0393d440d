"""Recording: what a run leaves behind - results, files, pictures, reports.

pandas, pyarrow, matplotlib and jinja2 are imported where they are used, so that this package is
imported quickly.
"""

from orchestrator.recording.atomic import whole_file
from orchestrator.recording.csv import write_csv
from orchestrator.recording.decimation import decimate
from orchestrator.recording.figure import picture, plot_xy, save
from orchestrator.recording.formats import format_names, writer
from orchestrator.recording.journal import Journal
from orchestrator.recording.map_content import MapAxis, MapLook, MapPanel
from orchestrator.recording.maps import plot_maps
from orchestrator.recording.mat import LARGEST_MATRIX, write_mat
from orchestrator.recording.origin import origin, versions
from orchestrator.recording.parameters import ParameterRow, parameters_of
from orchestrator.recording.parquet import read_parquet, read_result, write_parquet
from orchestrator.recording.plot_parts import PALETTE, Curve, Panel, Reference, Span
from orchestrator.recording.report import render_report, write_report
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

__all__ = [
    "LARGEST_MATRIX",
    "PALETTE",
    "CaseSection",
    "Curve",
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
    "ParameterRow",
    "Reference",
    "Report",
    "Result",
    "Span",
    "TableItem",
    "decimate",
    "format_names",
    "origin",
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
    "write_csv",
    "write_mat",
    "write_parquet",
    "write_report",
    "writer",
]
