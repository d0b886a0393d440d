"""Builds the FMU of a Python block: of its equations where it has some, else with Python in it."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.core.simunits import Block, block_class
from orchestrator.core.system import Value
from orchestrator.export.archive.fmu_archive import target_name, write_fmu
from orchestrator.export.archive.stamp import hash_of
from orchestrator.export.blocks.block_check import check_equations
from orchestrator.export.blocks.block_trace import trace
from orchestrator.export.blocks.python_fmu import write_python_fmu
from orchestrator.export.build import BuildResult, write_changed
from orchestrator.export.codegen import c_code
from orchestrator.export.codegen.layout import Layout
from orchestrator.export.dae.explicit_ode import without_equations
from orchestrator.export.experiment import Experiment
from orchestrator.export.recipe import Recipe, Solver

_LOGGER = logging.getLogger(__name__)


def build_block(
    which: str | type[Block],
    output: str | Path,
    *,
    name: str | None = None,
    fmi: Sequence[str] = ("2.0",),
    values: Mapping[str, Value] | None = None,
    python: bool | None = None,
    platforms: Sequence[str] = (),
    sources: bool = True,
    force: bool = False,
) -> BuildResult:
    """Build the FMU of a Python block.

    Parameters
    ----------
    which
        A block class; or a registered name, ``FILE.py:CLASS`` or ``MODULE:CLASS``.
    output
        Folder for ``<name>.fmu`` and ``<name>.fmi3.fmu``; or a file that ends in ``.fmu``, for one
        version.
    name
        Name of the FMU, an identifier; default that of the block.
    fmi
        Versions of FMI, ``"2.0"`` and ``"3.0"``.
    values
        Parameters, and start values of inputs, that differ from the block's own.
    python
        Whether the FMU runs the block in a Python interpreter instead of as C code. ``None``: only
        if it cannot be written as equations.
    platforms, sources
        As for :func:`~orchestrator.export.build_model`.
    force
        Build even if nothing changed.

    Raises
    ------
    UnknownNameError, PluginError
        If there is no such block.
    DescriptionError
        If a value does not fit; CapabilityError if the block cannot be exported so.
    FmuError
        If compiling or writing fails.
    """
    output = Path(output)
    kind = block_class(which) if isinstance(which, str) else which
    given = dict(values or {})
    plain = which if isinstance(which, str) and ":" not in which else kind.__name__
    experiment = Experiment(step_size=kind.longest_step)
    chosen = name or re.sub(r"\W", "_", plain)
    recipe = Recipe(
        kind.__name__,
        (),
        chosen,
        experiment=experiment,
        fmi=tuple(fmi),
        platforms=tuple(platforms),
        sources=sources,
    )
    files = _files(output, recipe)
    if not python:
        try:
            layout = equations_of(kind, given)
        except CapabilityError as error:
            if python is not None:
                raise
            _LOGGER.warning("%s; so the FMU runs the block in Python", error)
        else:
            return build_sampled(layout, recipe, files, force=force)
    return write_python_fmu(kind, given, recipe, files, force=force)


def build_sampled(
    layout: Layout, recipe: Recipe, files: Mapping[str, Path], *, force: bool = False
) -> BuildResult:
    """Build the FMUs of a model that changes at the ends of communication steps only."""

    def write(fmi: str, stamp: dict[str, str], target: Path) -> None:
        write_fmu(layout, recipe, fmi, stamp, target)

    return write_changed(recipe, layout_hash(layout), write, files, force=force)


def equations_of(kind: type[Block], values: Mapping[str, Value]) -> Layout:
    """Find and check the equations of a block."""
    sampled = trace(kind, values)
    check_equations(kind, values, sampled)
    about = (kind.__doc__ or "").strip().partition("\n")[0]
    return Layout(without_equations(kind.__name__, about, sampled))


def layout_hash(layout: Layout) -> str:
    """Hash of all that goes into the FMU."""
    ode, solver = layout.ode, Solver()
    variables = (*ode.inputs, *ode.parameters, *ode.outputs, *ode.locals)
    facts = [(v.name, v.kind, v.type, v.unit, v.description, v.shape) for v in variables]
    direct = ode.sampled.direct if ode.sampled else {}
    texts = (
        c_code.functions(ode, solver, "3.0"),
        c_code.model_header(layout, solver, "", "3.0"),
        repr((ode.name, ode.description, facts, direct)),
    )
    return hash_of([(str(place), text.encode()) for place, text in enumerate(texts)])


def _files(output: Path, recipe: Recipe) -> dict[str, Path]:
    if output.suffix != ".fmu":
        return {version: output / target_name(recipe, version) for version in recipe.fmi}
    if len(recipe.fmi) != 1:
        raise DescriptionError(
            f"'{output}' is one file and holds one version of FMI; expected a folder for"
            f" {' and '.join(recipe.fmi)}, or one version"
        )
    return {recipe.fmi[0]: output}
