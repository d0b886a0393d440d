"""The boundary of the exporter: a model as scalar residuals and described variables.

Every front end ends here (today Modelica through rumoca), every back end starts here. A plant that
is written in Python with CasADi enters by building a :class:`ResidualDae` itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from orchestrator.core.diagnostics import ModelicaError
from orchestrator.export.dae.events import Events
from orchestrator.export.dae.selection_guard import SelectionGuard


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


@dataclass(frozen=True, slots=True)
class Variable:
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


@dataclass(frozen=True, slots=True)
class Residual:
    """One scalar equation ``0 = expression`` and where it comes from."""

    expression: Any
    origin: str


@dataclass(frozen=True)
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
    places
        Where variables are declared, for messages.
    """

    name: str
    time: Any
    variables: tuple[Variable, ...]
    derivatives: Mapping[str, Any]
    residuals: tuple[Residual, ...]
    description: str = ""
    initial: tuple[Residual, ...] = ()
    events: Events = field(default_factory=Events)
    guards: tuple[SelectionGuard, ...] = ()
    places: Mapping[str, str] = field(default_factory=dict, compare=False)
    _by_name: dict[str, Variable] = field(init=False, repr=False, compare=False)

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

    def of_kind(self, *kinds: Kind) -> tuple[Variable, ...]:
        """Variables of these kinds, in the order of declaration."""
        return tuple(variable for variable in self.variables if variable.kind in kinds)

    def is_state(self, variable: Variable) -> bool:
        """Whether the model contains ``der`` of the variable."""
        return variable.name in self.derivatives
