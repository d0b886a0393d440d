"""From a Python block to its equations, which are tried against it, and to its FMU."""

from __future__ import annotations

import builtins
import logging
import math
import re
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial, reduce
from itertools import groupby
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np

from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.core.simunits import Block, block_class, class_of, component_of
from orchestrator.core.system import Causality, Component, Source, SourceKind, Value
from orchestrator.export.archive.fmu_archive import hash_of, target_name, write_fmu
from orchestrator.export.blocks.block_memory import (
    FUNCTIONS,
    Field,
    Symbol,
    UntraceableError,
    applied,
    fields_of,
    greater,
    lesser,
)
from orchestrator.export.blocks.python_fmu import write_python_fmu
from orchestrator.export.build import BuildResult, write_changed
from orchestrator.export.codegen import c_code
from orchestrator.export.codegen.layout import Layout
from orchestrator.export.dae.explicit_ode import without_equations
from orchestrator.export.dae.residual_dae import (
    DataType,
    Kind,
    Sampled,
    Variable,
    as_written,
    column,
    element_names,
)
from orchestrator.export.modelica.source.text import Experiment
from orchestrator.export.recipe import Recipe, Solver


@contextmanager
def symbolic_functions(kind: type[Block]) -> Iterator[None]:
    """Let the modules of a block's classes see functions that take symbols."""
    kinds = [c for c in kind.__mro__ if issubclass(c, Block) and c is not Block]
    functions = [f for c in kinds for f in vars(c).values() if isinstance(f, FunctionType)]
    spaces = {id(f.__globals__): f.__globals__ for f in functions}.values()
    replaced = [(space, name, new) for space in spaces for name, new in _replacements(space)]
    before = [(space, name, space[name]) for space, name, _ in replaced if name in space]
    try:
        for space, name, new in replaced:
            space[name] = new
        yield
    finally:
        for space, name, _ in replaced:
            del space[name]
        for space, name, old in before:
            space[name] = old


def _replacements(space: dict[str, Any]) -> list[tuple[str, Any]]:
    functions = {name: _wrapped(name) for name in FUNCTIONS}
    module = SimpleNamespace(**{**vars(math), **functions})
    replacements: list[tuple[str, Any]] = []
    for name, value in space.items():
        if value is math:
            replacements.append((name, module))
        for function, replacement in functions.items():
            if value is getattr(math, function):
                replacements.append((name, replacement))
    for name, operation in (("min", lesser), ("max", greater)):
        if name not in space:
            replacements.append((name, _extreme(getattr(builtins, name), operation)))
    return replacements


def _wrapped(name: str) -> Callable[..., Any]:
    """Make a function of ``math`` that takes symbols, too."""

    def function(*values: Any) -> Any:
        if any(isinstance(value, Symbol) for value in values):
            return applied(FUNCTIONS[name], *values)
        return getattr(math, name)(*values)

    return function


def _extreme(builtin: Callable[..., Any], operation: Callable[..., Any]) -> Callable[..., Any]:
    """Make ``min`` or ``max`` that takes symbols, too."""

    def function(*values: Any, **options: Any) -> Any:
        operands = list(values[0]) if len(values) == 1 else list(values)
        if options or not any(isinstance(value, Symbol) for value in operands):
            return builtin(*values, **options)
        return reduce(partial(applied, operation), operands)

    return function


_ROOM = str(Path(__file__).parents[2])  # where frames are not the block's own


def trace(kind: type[Block], values: Mapping[str, Value]) -> Sampled:
    """Find the equations of a block.

    ``math``, ``min`` and ``max`` are replaced in the modules of the block's classes while it runs.
    """
    subject = f"block {kind.__name__}"
    try:
        start = kind(**values)
        _expect_declared(start)
        if kind.follows_inputs():
            raise CapabilityError(
                "it takes what its inputs do over the step (follow), and an exported block holds"
                " them: expected step(t, h)"
            )
        fields = fields_of(start)
        every = [variable for field in fields for variable in field.variables]
        groups = {kind: tuple(v for v in every if v.kind is kind) for kind in Kind}
        t, h = ca.SX.sym("t"), ca.SX.sym("h")
        time: Any = Symbol(t)
        step: Any = Symbol(h)
        with as_written(), symbolic_functions(kind):
            after = _run(kind, values, fields, lambda block: block.step(time, step))
            first = _run(kind, values, fields, lambda block: block.initialise(time))
    except CapabilityError as error:
        raise CapabilityError(f"{subject}: {error}") from None
    return Sampled(
        t,
        h,
        groups[Kind.INPUT],
        groups[Kind.PARAMETER],
        (*groups[Kind.OUTPUT], *groups[Kind.LOCAL]),
        after,
        first,
        _direct(kind, groups, after),
        kind.longest_step,
    )


def _run(
    kind: type[Block],
    values: Mapping[str, Value],
    fields: Sequence[Field],
    call: Callable[[Block], None],
) -> Any:
    """Column of outputs and states after a call."""
    block = kind(**values)
    for field in fields:
        setattr(block, field.name, field.symbols())
    try:
        call(block)
    except Exception as error:
        reason = str(error) if isinstance(error, UntraceableError) else f"fails: {error!r}"
        raise CapabilityError(f"{_failed_line(error)} {reason}") from error
    _expect_declared(block)
    outputs: list[Any] = []
    states: list[Any] = []
    for field in fields:
        expressions = field.expressions(getattr(block, field.name))
        sort = field.variables[0].kind
        if sort in {Kind.INPUT, Kind.PARAMETER}:
            if not all(
                ca.is_equal(a, v.symbol) for a, v in zip(expressions, field.variables, strict=True)
            ):
                raise CapabilityError(
                    f"changes its {sort.value} '{field.name}'; expected State(start=..) for what"
                    " a block remembers"
                )
        else:
            (outputs if sort is Kind.OUTPUT else states).extend(expressions)
    return ca.vertcat(ca.SX(0, 1), *outputs, *states)


def _expect_declared(block: Block) -> None:
    kind = type(block)
    if kind.get_state is not Block.get_state or kind.set_state is not Block.set_state:
        raise CapabilityError(
            "defines get_state and set_state: what it remembers beside State(start=..) is not known"
        )
    declared = {*block.connectors, *block.states}
    if hidden := [name for name in vars(block) if name not in declared]:
        raise CapabilityError(
            f"keeps {', '.join(map(repr, hidden))}, which is not declared and would be lost:"
            " declare it with State(start=..)"
        )


def _direct(
    kind: type[Block], groups: Mapping[Kind, tuple[Variable, ...]], after: Any
) -> dict[str, tuple[str, ...]]:
    """What the equations show, less what the block says to act through a state only."""
    inputs, outputs = groups[Kind.INPUT], groups[Kind.OUTPUT]
    u = column(variable.symbol for variable in inputs)
    shapes = {name: connector.shape for name, connector in kind.connectors.items()}
    every = tuple(c.name for c in kind.connectors.values() if c.causality is Causality.INPUT)
    pattern = ca.jacobian_sparsity(after[: len(outputs)], u)
    rows, columns = pattern.get_triplet()
    feedthrough: dict[str, tuple[str, ...]] = {}
    for row, output in enumerate(outputs):
        declared = kind.feedthrough.get(output.array or output.name, every)
        allowed = {element for name in declared for element in element_names(name, shapes[name])}
        acting = [inputs[c].name for r, c in zip(rows, columns, strict=True) if r == row]
        feedthrough[output.name] = tuple(name for name in acting if name in allowed)
    return feedthrough


def _failed_line(error: Exception) -> str:
    """The innermost line of the block's own code."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith((_ROOM, str(Path(np.__file__).parent))):
            return f"{frame.filename}:{frame.lineno}: '{frame.line}'"
    return ""


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
    forms: dict[DataType, Any] = {DataType.INTEGER: int, DataType.BOOLEAN: bool}
    remaining = iter(values)
    for name, elements in groupby(variables, _field_of):
        numbers = [next(remaining) for _ in elements]
        connector = block.connectors[name]
        form = forms.get(DataType(connector.type.value), float)
        block.assign(connector, tuple(numbers) if connector.shape else form(numbers[0]))


def _compare(block: Block, sampled: Sampled, memory: Sequence[float], when: str) -> None:
    names = dict.fromkeys(map(_field_of, sampled.memory))
    traced = [number for name in names for number in _column(getattr(block, name))]
    for variable, value, actual in zip(sampled.memory, memory, traced, strict=True):
        if not math.isclose(actual, value, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE) and not (
            math.isnan(actual) and math.isnan(value)
        ):
            sort = "output" if variable.kind is Kind.OUTPUT else "state"
            raise CapabilityError(
                f"block {type(block).__name__}: {sort} '{variable.name}' is {actual!r} {when}, its"
                f" equations give {value!r}: it depends on more than its inputs, parameters,"
                " states and time, such as a clock, random numbers or variables of its module"
            )


def _field_of(variable: Variable) -> str:
    return variable.array or variable.name


def _column(values: Any) -> list[float]:
    return [float(value) for value in np.ravel(np.asarray(values))]


_LOGGER = logging.getLogger(__name__)


def build_block(
    source: str | type[Block],
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
    kind = block_class(source) if isinstance(source, str) else source
    start_values = dict(values or {})
    plain = source if isinstance(source, str) and ":" not in source else kind.__name__
    experiment = Experiment(step_size=kind.longest_step)
    identifier = name or re.sub(r"\W", "_", plain)
    recipe = Recipe(
        kind.__name__,
        (),
        identifier,
        experiment=experiment,
        fmi=tuple(fmi),
        platforms=tuple(platforms),
        sources=sources,
    )
    files = _files(output, recipe)
    if not python:
        try:
            sampled = trace(kind, start_values)
            check_equations(kind, start_values, sampled)
        except CapabilityError as error:
            if python is not None:
                raise
            _LOGGER.warning("%s; so the FMU runs the block in Python", error)
        else:
            summary = (kind.__doc__ or "").strip().partition("\n")[0]
            layout = Layout(without_equations(kind.__name__, summary, sampled))
            return build_sampled(layout, recipe, files, force=force)
    return write_python_fmu(kind, start_values, recipe, files, force=force)


def build_sampled(
    layout: Layout, recipe: Recipe, files: Mapping[str, Path], *, force: bool = False
) -> BuildResult:
    """Build the FMUs of a model that changes at the ends of communication steps only."""
    write = partial(write_fmu, layout, recipe)
    return write_changed(recipe, _layout_hash(layout), write, files, force=force)


def _layout_hash(layout: Layout) -> str:
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
    return hash_of([(str(index), text.encode()) for index, text in enumerate(texts)])


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
