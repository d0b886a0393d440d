"""A Python block becomes an FMU, whose equations are tried against the block."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.core.simunits import Block, block_class, class_of, component_of
from orchestrator.core.system import Component, Source, SourceKind, Value
from orchestrator.export.archive.fmu_archive import target_name, write_fmu
from orchestrator.export.archive.stamp import hash_of
from orchestrator.export.blocks.block_trace import trace
from orchestrator.export.blocks.python_fmu import write_python_fmu
from orchestrator.export.build import BuildResult, write_changed
from orchestrator.export.codegen import c_code
from orchestrator.export.codegen.layout import Layout
from orchestrator.export.dae.explicit_ode import without_equations
from orchestrator.export.dae.operations import as_written
from orchestrator.export.dae.residual_dae import DataType, Kind, Sampled, Variable
from orchestrator.export.modelica.source.text import Experiment
from orchestrator.export.recipe import Recipe, Solver

_STEPS = 64
#: Functions of numpy and of C round differently; a branch that flips over that would be seen.
_TOLERANCE = 1e-6
_LONGEST = 0.01  # s, of a block that takes any step


def check_equations(kind: type[Block], values: Mapping[str, Value], sampled: Sampled) -> None:
    """Compare a block with its equations, with its own parameters and random inputs.

    Values on which the block itself fails are no difference; the comparison ends there.
    """
    block = kind(**values)
    random = np.random.default_rng(1)
    u, p, m = sampled.columns
    with as_written():
        following = ca.Function("next", [sampled.time, sampled.step, u, p, m], [sampled.next])
        beginning = ca.Function("first", [sampled.time, u, p, m], [sampled.first])
    parameters = [float(v.start) for v in sampled.parameters]
    memory = [float(v.start) for v in sampled.memory]
    longest = min(sampled.longest_step or math.inf, _LONGEST)
    time = 0.0
    for count in range(_STEPS):
        inputs = _random_values(random, sampled.inputs)
        _give(block, sampled.inputs, inputs)
        step = float(random.uniform(0.1, 1.0)) * longest
        try:
            if count == 0:
                block.initialise(time)
            else:
                block.step(time, step)
        except (ArithmeticError, ValueError):
            return
        if count == 0:
            memory = _column(beginning(time, inputs, parameters, memory))
        else:
            memory = _column(following(time, step, inputs, parameters, memory))
            time += step
        _compare(block, sampled, memory, f"at step {count} of {_STEPS} with random inputs")


def _random_values(random: np.random.Generator, variables: Sequence[Variable]) -> list[float]:
    draws = {
        DataType.REAL: lambda: float(random.normal()),
        DataType.INTEGER: lambda: float(random.integers(-5, 6)),
        DataType.BOOLEAN: lambda: float(random.integers(0, 2)),
    }
    return [draws[variable.type]() for variable in variables]


def _give(block: Block, variables: Sequence[Variable], values: Sequence[float]) -> None:
    found: dict[str, list[float]] = {}
    for variable, value in zip(variables, values, strict=True):
        found.setdefault(variable.array or variable.name, []).append(value)
    forms: dict[DataType, Any] = {DataType.INTEGER: int, DataType.BOOLEAN: bool}
    for name, numbers in found.items():
        connector = block.connectors[name]
        form = forms.get(DataType(connector.type.value), float)
        block.assign(connector, tuple(numbers) if connector.shape else form(numbers[0]))


def _compare(block: Block, sampled: Sampled, memory: Sequence[float], when: str) -> None:
    values: dict[str, list[float]] = {}
    for variable, value in zip(sampled.memory, memory, strict=True):
        name = variable.array or variable.name
        if name not in values:
            found = np.ravel(np.asarray(getattr(block, name), dtype=float))
            values[name] = found.tolist()
        actual = values[name].pop(0)
        if not math.isclose(actual, value, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE) and not (
            math.isnan(actual) and math.isnan(value)
        ):
            sort = "output" if variable.kind is Kind.OUTPUT else "state"
            raise CapabilityError(
                f"block {type(block).__name__}: {sort} '{variable.name}' is {actual!r} {when}, its"
                f" equations give {value!r}: it depends on more than its inputs, parameters,"
                " states and time, such as a clock, random numbers or variables of its module"
            )


def _column(values: Any) -> list[float]:
    return [float(value) for value in np.ravel(np.asarray(values))]


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
