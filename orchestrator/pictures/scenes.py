"""Scenes in files of their own, which several animations draw."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from orchestrator.core.diagnostics import DescriptionError, LoadError
from orchestrator.core.diagnostics.validation import format_validation_error
from orchestrator.core.plain_data import toml_data
from orchestrator.pictures.animation import Scene

_MERGED = ("frame", "part", "view")


def with_scenes(content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Put what the scenes of animations hold into their tables.

    Parameters
    ----------
    content
        Of an experiment file, as TOML gives it.
    folder
        What the paths of scenes are relative to.

    Returns
    -------
    dict
        The same, with frames, parts and views of the scenes in each animation that names them;
        later scenes win over earlier ones, and the animation's own over all.

    Raises
    ------
    LoadError
        If a scene is missing or is no TOML.
    DescriptionError
        If a scene has other keys, or values of a wrong kind.
    """
    animations = content.get("animation")
    if not isinstance(animations, dict):
        return content
    return content | {"animation": {name: _whole(t, folder) for name, t in animations.items()}}


def _whole(table: Any, folder: Path) -> Any:
    files = table.get("scene") if isinstance(table, dict) else None
    if not isinstance(files, list) or not all(isinstance(file, str) for file in files):
        return table  # nothing to add, or wrong, which is said with the rest of the table
    if any(not isinstance(table.get(key, {}), dict) for key in _MERGED):
        return table
    scenes = [_read(folder / file) for file in files]
    merged = {
        key: {k: v for one in (*scenes, table) for k, v in one.get(key, {}).items()}
        for key in _MERGED
    }
    charts = table.get("chart", [chart for scene in scenes for chart in scene.get("chart", ())])
    return table | {key: value for key, value in merged.items() if value} | {"chart": charts}


def _read(path: Path) -> dict[str, Any]:
    try:
        content = toml_data(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise LoadError.in_file(path, "no such scene") from None
    except (ValueError, OSError) as error:
        raise LoadError.in_file(path, f"expected a scene in TOML: {error}") from None
    try:
        Scene.model_validate(content)
    except ValidationError as error:
        raise DescriptionError(*format_validation_error(error, Scene, path)) from None
    return content
