"""Figures as files: drawn in several processes, and not again where nothing has changed."""

from __future__ import annotations

import hashlib
import io
import multiprocessing
import pickle
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from orchestrator.core import posix
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.recording import link, whole_file
from orchestrator.pictures.drawing import Drawing
from orchestrator.study.content import Plot

if TYPE_CHECKING:
    from matplotlib.figure import Figure


#: What can be drawn: a plot, a diagram, or what makes a figure of Matplotlib and can be pickled.
Picture: TypeAlias = "Plot | Drawing | Callable[[], Figure]"
_SUFFIXES = (".png", ".svg")
#: A process takes as long to start as some pictures to be drawn.
_FEW = 2
_LOOKS = ("pictures.py", "plot_drawing.py")


def draw_pictures(
    pictures: Mapping[str, Picture],
    folder: Path,
    earlier: Path,
    tell: Callable[[float], None] = lambda _share: None,
) -> list[Path]:
    """Write figures as ``NAME.png`` and ``NAME.svg``; returns these paths."""
    folder.mkdir(parents=True, exist_ok=True)
    jobs = []
    for name, shown in pictures.items():
        sign = _sign(shown)
        if _is_of(earlier / name, sign):
            for suffix in _SUFFIXES:
                link(_file(earlier / name, suffix), _file(folder / name, suffix))
        else:
            jobs.append((shown, folder / name, sign))
    if len(jobs) <= _FEW:
        for number, job in enumerate(jobs, 1):
            _draw(*job)
            tell(number / len(jobs))
    else:
        workers = min(len(posix.processors()), len(jobs))
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(workers, mp_context=spawn) as pool:
            for number, _ in enumerate(pool.map(_draw, *zip(*jobs, strict=True)), 1):
                tell(number / len(jobs))
    return [_file(folder / name, suffix) for name in pictures for suffix in _SUFFIXES]


def _draw(shown: Picture, stem: Path, sign: bytes) -> None:
    """Write a picture in both formats; the SVG ends with the sign of what it shows."""
    png, svg = _contents(shown)
    for suffix, content in zip(_SUFFIXES, (png, svg + sign), strict=True):
        with whole_file(_file(stem, suffix)) as draft:
            draft.write_bytes(content)


def _contents(shown: Picture) -> tuple[bytes, bytes]:
    if isinstance(shown, Drawing):
        return shown.png(), shown.svg()
    from orchestrator.pictures.plot_drawing import draw_plot

    figure = draw_plot(shown) if isinstance(shown, Plot) else shown()
    png = picture(figure, "png")
    figure.set_layout_engine("none")  # the second format takes the layout of the first
    return png, picture(figure, "svg")


def _sign(shown: Picture) -> bytes:
    """Return a comment that stands for what is shown, and for how it is drawn."""
    content = hashlib.sha256(pickle.dumps(shown, protocol=5) + _look()).hexdigest()
    return f"<!-- softdock {content} -->\n".encode()


@cache
def _look() -> bytes:
    """Return what else determines a picture: who draws it."""
    sources = (Path(__file__).with_name(name).read_bytes() for name in _LOOKS)
    return b"".join([version("matplotlib").encode(), version("softdock").encode(), *sources])


def _is_of(stem: Path, sign: bytes) -> bool:
    """Whether both pictures are there and show what a sign stands for."""
    png, svg = (_file(stem, suffix) for suffix in _SUFFIXES)
    return png.is_file() and svg.is_file() and svg.read_bytes().endswith(sign)


def _file(stem: Path, suffix: str) -> Path:
    return stem.with_name(stem.name + suffix)


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
