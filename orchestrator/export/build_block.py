"""Builds the FMU of a Python block: of its equations where it has some, else with Python in it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

from orchestrator.errors import CapabilityError, DescriptionError
from orchestrator.export import c_code
from orchestrator.export.block_check import check_equations
from orchestrator.export.block_trace import trace
from orchestrator.export.build import BuildResult, write_changed
from orchestrator.export.explicit_ode import without_equations
from orchestrator.export.fmu_archive import target_name
from orchestrator.export.layout import Layout
from orchestrator.export.python_fmu import write_python_fmu
from orchestrator.export.recipe import Recipe, Solver
from orchestrator.export.stamp import hash_of
from orchestrator.simunits import Block, block_class
from orchestrator.system import Value

_LOGGER = logging.getLogger(__name__)


def build_block(
    which: str | type[Block],
    output: Path,
    *,
    name: str | None = None,
    fmi: Sequence[str] = ("2.0",),
    values: Mapping[str, Value] | None = None,
    python: bool | None = None,
    force: bool = False,
) -> BuildResult:
    """Build the FMU of a Python block.

    Parameters
    ----------
    which
        A registered name, or a block class.
    output
        Folder for ``<name>.fmu`` and ``<name>.fmi3.fmu``; or a file that ends in ``.fmu``, for one
        version.
    name
        Name of the FMU, an identifier; default that of the file or the block.
    fmi
        Versions of FMI, ``"2.0"`` and ``"3.0"``.
    values
        Parameters, and start values of inputs, that differ from the block's own.
    python
        Whether the FMU runs the block in a Python interpreter instead of as C code. ``None``: only
        if it cannot be written as equations.
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
    kind = block_class(which) if isinstance(which, str) else which
    given = dict(values or {})
    plain = which if isinstance(which, str) else kind.__name__
    files = _files(output, name or plain, fmi)
    stem = name or (output.name.partition(".")[0] if output.suffix == ".fmu" else plain)
    recipe = Recipe(kind.__name__, (), stem, fmi=tuple(fmi))
    if not python:
        try:
            layout = equations_of(kind, given)
        except CapabilityError as error:
            if python is not None:
                raise
            _LOGGER.warning("%s; so the FMU runs the block in Python", error)
        else:
            return write_changed(recipe, layout_hash(layout), lambda: layout, files, force=force)
    return write_python_fmu(kind, given, recipe, files, force=force)


def equations_of(kind: type[Block], values: Mapping[str, Value]) -> Layout:
    """Find and check the equations of a block.

    Raises
    ------
    DescriptionError
        If a value does not fit; CapabilityError if it cannot be written as equations.
    """
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


def _files(output: Path, name: str, fmi: Sequence[str]) -> dict[str, Path]:
    recipe = Recipe("Block", (), name, fmi=tuple(fmi)) if output.suffix != ".fmu" else None
    if recipe is not None:
        return {version: output / target_name(recipe, version) for version in fmi}
    if len(fmi) != 1:
        raise DescriptionError(
            f"'{output}' is one file and holds one version of FMI; expected a folder for"
            f" {' and '.join(fmi)}, or one version"
        )
    return {fmi[0]: output}
