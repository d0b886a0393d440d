"""Python blocks of a system that becomes an FMU, as FMUs of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from orchestrator.core.diagnostics import DescriptionError, FmuError
from orchestrator.core.system import Component, SourceKind, System
from orchestrator.export import block_as_fmu


def with_blocks_as_fmus(flat: System, folder: Path, platforms: Sequence[str] = ()) -> System:
    """Return a flat system in which every block is its FMU, as of ``softdock export block``.

    Parameters
    ----------
    flat
        Resolved.
    platforms
        That they have binaries for; default: this machine's.
    folder
        Where the FMUs are written; they must stay while the result is used.

    Raises
    ------
    DescriptionError
        If blocks cannot be exported, together.
    FmuError
        If an FMU cannot be built.
    """
    problems: list[DescriptionError] = []
    for number, (name, component) in enumerate(flat.components.items()):
        if component.source.kind is not SourceKind.BLOCK:
            continue
        identifier = re.sub(r"\W", "_", name, flags=re.ASCII)
        try:
            made = _built(component, folder / str(number) / f"{identifier}.fmu", platforms)
        except DescriptionError as error:
            told = (f"component '{name}': its FMU: {text}" for text in error.problems)
            problems.append(type(error)(*told))
            continue
        except FmuError as error:
            raise FmuError(f"component '{name}': its FMU: {error}") from error
        flat = flat.replace(made)
    if problems:
        raise DescriptionError.collect(problems)
    return flat


def _built(component: Component, path: Path, platforms: Sequence[str]) -> Component:
    has_arrays = any(connector.shape for connector in component.connectors.values())
    path.parent.mkdir()
    version = "3.0" if has_arrays else "2.0"
    made = block_as_fmu(component, path, fmi=version, platforms=platforms)
    kept = {key: value for key, value in component.values.items() if key in made.connectors}
    # What the block says of itself is planned with, so that it is stepped as in a run; its FMU may
    # know of fewer inputs that act at once.
    return replace(
        made, values=kept, feedthrough=component.feedthrough, has_states=component.has_states
    )
