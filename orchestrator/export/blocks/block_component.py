"""A component that is a Python block becomes one that is the block's FMU."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from orchestrator.core.simunits import class_of, component_of
from orchestrator.core.system import Component, Source, SourceKind
from orchestrator.export.blocks.build_block import build_block


def block_as_fmu(
    component: Component, path: Path, *, fmi: str = "2.0", platforms: Sequence[str] = ()
) -> Component:
    """Build the FMU of a component's block, and return the component made from it.

    Parameters
    ----------
    component
        A block. Values of its parameters and inputs become the FMU's defaults.
    path
        The ``.fmu`` file; its stem is an identifier.
    fmi
        Version: arrays stay arrays in ``"3.0"`` and become scalars in ``"2.0"``.
    platforms
        That it has binaries for; default: this machine's.

    Returns
    -------
    Component
        Of the same name and options; without values.

    Raises
    ------
    DescriptionError
        If the block cannot be exported.
    FmuError
        If its FMU cannot be built.
    """
    built = build_block(
        class_of(component.source),
        path,
        name=path.stem,
        fmi=(fmi,),
        values=component.values,
        platforms=platforms,
    )
    source = Source(SourceKind.FMU, str(built.files[fmi]))
    return component_of(source, component.name, {}, component.options)
