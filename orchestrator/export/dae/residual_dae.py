"""The boundary of the exporter: a model as scalar residuals and descriptions of its variables.

Every front end ends here (today Modelica through rumoca), every back end starts here. A plant that
is written in Python with CasADi enters by building a :class:`ResidualDae` itself.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import Any

import casadi as ca

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.core.structs import Struct, field
from orchestrator.export.dae.events import Events

_LARGEST_DETERMINANT = 5  # symbolic determinants grow quickly


class SelectionGuard(Struct):
    """A number that is zero where constraints cannot be solved for what is no state.

    margin: Determinant of the constraints' Jacobian by the surplus variables, relative to the
        length of its rows by all candidates: between -1 and 1.
    slope: Its derivative by time.
    label: The surplus variables.
    """

    margin: Any
    slope: Any
    label: str


def selection_guards(
    jacobian: Any, selection: list[int], names: list[str], rates: Mapping[str, Any]
) -> Iterator[SelectionGuard]:
    """Guards of one selection; none where the Jacobian is constant, so that it cannot vanish."""
    square = jacobian[:, selection]
    count, rows, columns, row_ends, column_ends, _, _ = square.sparsity().btf()
    for block in range(count):
        inside = rows[row_ends[block] : row_ends[block + 1]]
        columns_of_block = columns[column_ends[block] : column_ends[block + 1]]
        part = ca.densify(square[inside, columns_of_block])
        if part.is_constant() or len(inside) > _LARGEST_DETERMINANT:
            continue
        margin = ca.det(part)
        for row in inside:
            margin /= ca.norm_2(ca.densify(jacobian[row, :]))
        symbols = ca.symvar(margin)
        slope = sum(
            (ca.gradient(margin, s) * rates[s.name()] for s in symbols if s.name() in rates),
            ca.SX(0),
        )
        yield SelectionGuard(
            margin, slope, ", ".join(names[selection[column]] for column in columns_of_block)
        )


class Kind(Enum):
    """What a variable is to the outside; a state is any input-free variable with a derivative."""

    INPUT = "input"
    OUTPUT = "output"
    PARAMETER = "parameter"  # set from outside, before initialisation or (Real) between steps
    CALCULATED = "calculated parameter"  # an expression of parameters
    CONSTANT = "constant"  # includes parameters that shape the equations
    LOCAL = "local"
    DISCRETE = "discrete"  # local or output that changes at events only


class DataType(Enum):
    """Modelica's predefined types that the exporter handles."""

    REAL = "Real"
    INTEGER = "Integer"
    BOOLEAN = "Boolean"
    ENUMERATION = "Enumeration"  # numbered from 1


class StateSelect(Enum):
    """Modelica's wish about being a state; a larger value is a stronger wish."""

    NEVER = 0
    AVOID = 1
    DEFAULT = 2
    PREFER = 3
    ALWAYS = 4


class Variable(Struct):
    """One scalar variable.

    Attributes
    ----------
    symbol
        The ``casadi.SX`` symbol that stands for it in expressions.
    start
        Start value: an expression of parameters. For parameters a number.
    value
        Binding of a calculated parameter (expression of parameters) or of a constant (number).
    fixed
        The start value holds exactly at initialisation.
    free
        A calculated parameter that the initial system determines (fixed=false in Modelica).
    array, shape
        Name and sizes of the array that it is an element of; empty for a scalar.
    declared_type
        The name of its type as its declaration writes it, such as ``Units.Length``.
    connector, flow
        Connector of the model itself that it is a member of; whether Modelica calls it a flow.
    display_unit
        Unit that a display should convert to.
    """

    name: str
    kind: Kind
    type: DataType
    symbol: Any
    start: Any
    value: Any = None
    fixed: bool = False
    minimum: float | None = None
    maximum: float | None = None
    nominal: float | None = None
    unit: str | None = None
    description: str = ""
    protected: bool = False
    state_select: StateSelect = StateSelect.DEFAULT
    free: bool = False
    settable: bool = True  # False: a structural parameter, folded into the equations
    is_output: bool = False  # of a discrete variable
    literals: tuple[str, ...] = ()  # of an enumeration, in order
    array: str = ""
    shape: tuple[int, ...] = ()
    quantity: str | None = None
    display_unit: str | None = None
    declared_type: str = ""
    connector: str = ""
    flow: bool = False


class Residual(Struct):
    """One scalar equation ``0 = expression`` and where it comes from."""

    expression: Any
    origin: str


@dataclasses.dataclass(frozen=True)
class ResidualDae:
    """A whole model: ``0 = F(t, x, der(x), w, u, p)``.

    Attributes
    ----------
    derivatives
        State name to the symbol of its derivative.
    initial
        Further equations that hold at initialisation only.
    events
        What happens at instants.
    guards
        Where the selection of states stops to hold.
    locations
        Where variables are declared, for messages.
    """

    name: str
    time: Any
    variables: tuple[Variable, ...]
    derivatives: Mapping[str, Any]
    residuals: tuple[Residual, ...]
    description: str = ""
    initial: tuple[Residual, ...] = ()
    events: Events = dataclasses.field(default_factory=Events)
    guards: tuple[SelectionGuard, ...] = ()
    locations: Mapping[str, str] = dataclasses.field(default_factory=dict, compare=False)
    _by_name: dict[str, Variable] = dataclasses.field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_name = {variable.name: variable for variable in self.variables}
        object.__setattr__(self, "_by_name", by_name)
        unknown = [name for name in self.derivatives if name not in by_name]
        if unknown or len(by_name) != len(self.variables):
            raise ModelicaError(
                f"{self.name}: variable names must be unique and every derivative must belong to a"
                f" variable; without one: {unknown}"
            )

    def variable(self, name: str) -> Variable:
        """Return the variable of that name."""
        return self._by_name[name]

    def placed(self, name: str) -> str:
        """A variable and where it is declared, for messages."""
        location = self.locations.get(name, "")
        return f"'{name}' at {location}" if location else f"'{name}'"

    def of_kind(self, *kinds: Kind) -> tuple[Variable, ...]:
        """Variables of these kinds, in the order of declaration."""
        return tuple(variable for variable in self.variables if variable.kind in kinds)

    def is_state(self, variable: Variable) -> bool:
        """Whether the model contains ``der`` of the variable."""
        return variable.name in self.derivatives


def element_names(name: str, shape: tuple[int, ...]) -> list[str]:
    """Names of the elements of an array, counted from 1, in row-major order."""
    if not shape:
        return [name]
    points = itertools.product(*(range(1, size + 1) for size in shape))
    return [f"{name}[{','.join(map(str, point))}]" for point in points]


def variables_of(
    name: str,
    shape: tuple[int, ...],
    kind: Kind,
    data_type: DataType,
    starts: Iterable[float],
    **facts: Any,
) -> tuple[Variable, ...]:
    """A scalar, or the elements of an array, with their start values in row-major order."""
    return tuple(
        Variable(
            element,
            kind,
            data_type,
            ca.SX.sym(element),
            ca.SX(start),
            array=name if shape else "",
            shape=shape,
            **facts,
        )
        for element, start in zip(element_names(name, shape), starts, strict=True)
    )


_Column = Any  # casadi.SX column


class Column(Struct):
    """A column of expressions, with their names where they have any."""

    values: _Column = field(default_factory=lambda: ca.SX(0, 1))
    names: Sequence[str] = ()


class Sampled(Struct):
    """``m' = next(t, h, u, p, m)`` at every step, from ``first(t, u, p, m)`` on.

    The memory m holds all outputs and then all states of the model. The columns u and p are those
    of its inputs and parameters.

    time, step, inputs, parameters, memory: Symbols: the time at which the step begins and its
        length in seconds, and the columns.
    next, first: The memory after a step, and at the start.
    direct: For every output, the inputs of a step that act on it at the end of that step.
    longest_step: In seconds; None: any.
    code: File of the runtime that takes the steps instead of the expressions; empty: none.
    room: Number of further values that this file keeps.
    fixed: Parameters that only count at the start.
    """

    time: _Column
    step: _Column
    inputs: tuple[Variable, ...]
    parameters: tuple[Variable, ...]
    memory: tuple[Variable, ...]
    next: _Column
    first: _Column
    direct: Mapping[str, tuple[str, ...]]
    longest_step: float | None = None
    code: str = ""
    room: int = 0
    fixed: frozenset[str] = frozenset()

    @property
    def columns(self) -> tuple[_Column, _Column, _Column]:
        """Columns u, p and m."""
        u, p, m = (
            column(variable.symbol for variable in group)
            for group in (self.inputs, self.parameters, self.memory)
        )
        return u, p, m

    @property
    def tunable(self) -> frozenset[str]:
        """Parameters that may be set between steps: they form no state at the start."""
        states = [index for index, v in enumerate(self.memory) if v.kind is not Kind.OUTPUT]
        begun = column(self.first[index] for index in states)
        forming = {symbol.name() for symbol in ca.symvar(begun)}
        return frozenset(v.name for v in self.parameters) - forming - self.fixed


def start_point(dae: ResidualDae) -> dict[str, float]:
    """Start values with all parameters at their defaults, by name."""
    parameters = dae.of_kind(Kind.PARAMETER)
    calculated = dae.of_kind(Kind.CALCULATED)
    values = guessed_values(dae, calculated_values(dae, calculated))
    others = dae.of_kind(Kind.INPUT, Kind.OUTPUT, Kind.LOCAL)
    starts = column(v.start for v in others)
    p, c = (column(v.symbol for v in group) for group in (parameters, calculated))
    p_start = column(v.start for v in parameters)
    numbers = ca.substitute(ca.vertcat(p_start, values, starts), c, values)
    numbers = ca.substitute(numbers, p, p_start)
    names = [v.name for v in (*parameters, *calculated, *others)]
    for name, number in zip(names, ca.vertsplit(numbers), strict=True):
        if used := ca.symvar(number):
            raise ModelicaError(
                f"{dae.name}: the start value of '{name}' depends on '{used[0].name()}', which is"
                " no parameter"
            )
    return dict(zip(names, map(float, ca.evalf(numbers).full().ravel()), strict=True))


def column(items: Any = ()) -> Any:
    """Column of scalar expressions, possibly none."""
    return ca.vertcat(ca.SX(0, 1), *items)


def calculated_values(dae: ResidualDae, calculated: Sequence[Variable]) -> Any:
    """Bindings of calculated parameters, in terms of parameters and of those with fixed=false."""
    symbols = column(variable.symbol for variable in calculated if not variable.free)
    values = column(v.symbol if v.free else v.value for v in calculated)
    for _ in calculated:
        if not ca.depends_on(values, symbols):
            break
        bound = column(values[i] for i, v in enumerate(calculated) if not v.free)
        values = ca.substitute(values, symbols, bound)
    if calculated and ca.depends_on(values, symbols):
        names = ", ".join(variable.name for variable in calculated)
        raise ModelicaError(
            f"{dae.name}: parameters depend on each other in a circle, among {names}"
        )
    return values


def guessed_values(dae: ResidualDae, values: Any) -> Any:
    """The same with the start values of parameters with fixed=false as guesses."""
    calculated = dae.of_kind(Kind.CALCULATED)
    free = [variable for variable in calculated if variable.free]
    unknowns, starts = column(v.symbol for v in free), column(v.start for v in free)
    starts = ca.substitute(starts, column(v.symbol for v in calculated), values)
    for _ in free:  # a guess may follow from another
        starts = ca.substitute(starts, unknowns, starts)
    return ca.substitute(values, unknowns, starts)


@contextmanager
def as_written() -> Iterator[None]:
    """Let CasADi keep expressions as they are written: it would turn ``(a - b) + b`` into ``a``."""
    before = ca.GlobalOptions.getSimplificationOnTheFly()
    ca.GlobalOptions.setSimplificationOnTheFly(False)
    try:
        yield
    finally:
        ca.GlobalOptions.setSimplificationOnTheFly(before)
