"""Any figure as a file."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.recording import whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def picture(figure: Figure, kind: Literal["png", "svg"]) -> bytes:
    """Draw a figure as PNG (150 dpi) or SVG.

    The same figure gives the same bytes: no date, no random identifiers.
    """
    import matplotlib as mpl

    metadata = {"Date": None} if kind == "svg" else {"Software": None}
    content = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "softdock"}):
        figure.savefig(content, format=kind, dpi=150, facecolor="white", metadata=metadata)
    return content.getvalue()


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure as PNG or SVG, by the file's suffix; see :func:`picture`."""
    suffix = Path(path).suffix.lower()
    if suffix not in {".png", ".svg"}:
        raise DescriptionError.in_file(path, "expected a picture's name to end in .png or .svg")
    content = picture(figure, "svg" if suffix == ".svg" else "png")
    with whole_file(path) as draft:
        draft.write_bytes(content)
