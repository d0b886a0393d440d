"""Master algorithms: what each decides for a system, in a plan, and how they are found by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from orchestrator.core.diagnostics import (
    CapabilityError,
    DescriptionError,
    PluginError,
    SoftdockError,
    UnknownNameError,
    choices_for,
    enumerated,
    exits_are_errors,
)
from orchestrator.core.master.plan import (
    Coupling,
    Group,
    Iteration,
    Loops,
    Plan,
    StepMethod,
    StepSizeControl,
    is_within_step,
    levels,
    stepping_order,
)
from orchestrator.core.plugins import FunctionGroup, failure
from orchestrator.core.structs import replace
from orchestrator.core.system import Connection, System, nanoseconds

_Chosen = TypeVar("_Chosen")
#: Called with the system, and with the algorithm's own options by keyword.
Algorithm = Callable[..., Plan]
_Given = TypeVar("_Given", bound=Algorithm)
#: The algorithms of this file by name, which are found without looking through all packages.
BUILT_IN: dict[str, Algorithm] = {}


def _built_in(function: _Given) -> _Given:
    """Enter an algorithm under its own name, with hyphens; its entry point says the same."""
    BUILT_IN[function.__name__.replace("_", "-")] = function
    return function


_REFUSED_OR_DELAYED = {"refuse": False, "delay": True}


@_built_in
def jacobi(system: System, algebraic_loops: str = "refuse") -> Plan:
    """Let all components exchange at the beginning of a step, then step all.

    algebraic_loops: What becomes of loops of direct feed-through that no delay cuts: ``"refuse"``,
        or ``"delay"``: every unit hands on in a step what came before it, which delays the signals
        of the loop by one step for each unit. Nothing is solved then.
    """
    delays = _one_of("algebraic_loops", algebraic_loops, _REFUSED_OR_DELAYED)
    return Plan((Group(tuple(system.components)),), latch_at_end=False, delays_loops=delays)


@_built_in
def gauss_seidel(system: System, algebraic_loops: str = "refuse") -> Plan:
    """Step sources before targets, each with the newest values of those before it.

    Components that have nothing to tell each other share a group, which can be stepped by several
    threads. A delay of two steps or more binds no order.

    algebraic_loops: What becomes of loops of direct feed-through that no delay cuts: ``"refuse"``,
        or ``"delay"``: a unit that is stepped before its source takes what came before the step,
        which delays the signals of the loop by one step for each such line. Nothing is solved then.
    """
    delays = _one_of("algebraic_loops", algebraic_loops, _REFUSED_OR_DELAYED)
    order = [name for ring in stepping_order(system) for name in ring]
    groups = tuple(Group(group) for group in levels(system, order))
    return Plan(groups, delays_loops=delays)


_ACCELERATIONS = {
    "none": Iteration.FIXED_POINT,
    "aitken": Iteration.AITKEN,
    "anderson": Iteration.ANDERSON,
}


@_built_in
def fixed_point(
    system: System,
    acceleration: str = "anderson",
    tolerance: float = 1e-9,
    most_iterations: int = 50,
) -> Plan:
    """Repeat every ring of components that no delay cuts until its outputs no longer change.

    acceleration: ``"anderson"``, ``"aitken"`` or ``"none"``. Without one, a loop converges only if
        its gain over one pass is below 1.
    tolerance, most_iterations: See :class:`Loops`.
    """
    method = _one_of("acceleration", acceleration, _ACCELERATIONS)
    return _iterated(system, Loops(method, tolerance, most_iterations))


@_built_in
def newton(
    system: System, jacobian: str = "auto", tolerance: float = 1e-9, most_iterations: int = 50
) -> Plan:
    """Solve every ring of components that no delay cuts by Newton's method on its interface.

    The Jacobian of the interface is kept from step to step, and corrected by Broyden's update.

    jacobian: ``"differences"``: each column is one more pass through the whole step.
        ``"derivatives"``: it is made of directional derivatives of the units, until they turn out
        not to be enough. ``"auto"``: of derivatives where all units in rings give them.
    tolerance, most_iterations: See :class:`Loops`.
    """
    _one_of("jacobian", jacobian, dict.fromkeys(("auto", "derivatives", "differences")))
    plan = _iterated(system, Loops(Iteration.NEWTON, tolerance, most_iterations))
    inside = [name for group in plan.groups if group.loop for name in group.members]
    mute = [name for name in inside if not system.components[name].has_derivatives]
    if jacobian == "derivatives" and mute:
        raise CapabilityError(
            f"jacobian 'derivatives': {', '.join(map(repr, mute))} give no directional derivatives"
            " (providesDirectionalDerivative is not true): choose 'differences'"
        )
    if jacobian == "differences" or mute:
        return plan
    by_units = Loops(Iteration.NEWTON_BY_DERIVATIVES, tolerance, most_iterations)
    return replace(plan, loops=by_units)


@_built_in
def waveform(
    system: System, method: str = "anderson", tolerance: float = 1e-9, most_iterations: int = 50
) -> Plan:
    """Repeat every ring that no delay of a step cuts until the signals over the step agree.

    Units that take derivatives of their inputs are given the cubic through the last samples of each
    source and the one that the iteration has for the end of the step: waveform relaxation with the
    communication step as its window. With ``delay = "waveform"`` a delay shorter than the step is
    iterated likewise, as what arrives within the step depends on its end.

    system: Its default experiment's step is the communication step.
    method: ``"anderson"``, ``"aitken"``, ``"none"`` (plain relaxation, which converges only if the
        gain of the loop over one step is below 1), or ``"newton"`` with a Jacobian by differences.
    tolerance, most_iterations: See :class:`Loops`.

    References
    ----------
    Lelarasmee, Ruehli, Sangiovanni-Vincentelli: The waveform relaxation method for time-domain
    analysis of large scale integrated circuits, 1982, doi 10.1109/TCAD.1982.1270004; here for
    windows of one step, with what a cubic keeps of each waveform.
    """
    iteration = _one_of("method", method, {**_ACCELERATIONS, "newton": Iteration.NEWTON})
    step_ns = system.experiment.step_ns or 0
    bound = tuple(_bound(line, step_ns) for line in system.connections)
    loops = Loops(iteration, tolerance, most_iterations)
    return _iterated(replace(system, connections=bound), loops, Coupling.WAVEFORM)


def _bound(line: Connection, step_ns: int) -> Connection:
    """Return a line without its delay if some of what it brings is sent in the same step."""
    if line.delay is None or not is_within_step(line, step_ns):
        return line
    return replace(line, delay=None, interpolation=None, extrapolation=None)


@_built_in
def step_doubling(
    system: System,
    base: str = "gauss-seidel",
    relative: float = 1e-4,
    absolute: float = 1e-6,
    shortest: str | float = "1 us",
    longest: str | float | None = None,
) -> Plan:
    """Do every step whole and in two halves; the difference tells the error.

    base: How a step is done: ``"jacobi"``, ``"gauss-seidel"`` or ``"newton"``.
    relative, absolute: Tolerances of every connected output.
    shortest, longest: Bounds of the step; the first one is the communication step.
    """
    bases: dict[str, Algorithm] = {
        "jacobi": jacobi,
        "gauss-seidel": gauss_seidel,
        "newton": newton,
    }
    plan = _one_of("base", base, bases)(system)
    order = 2 if plan.coupling is Coupling.MEAN else 1
    return _controlled(plan, StepMethod.DOUBLING, relative, absolute, shortest, longest, order)


@_built_in
def embedded(
    system: System,
    relative: float = 1e-4,
    absolute: float = 1e-6,
    shortest: str | float = "1 us",
    longest: str | float | None = None,
) -> Plan:
    """Extend inputs along their sources' last two values; what comes out tells the error of that.

    The components are stepped in the order of Gauss-Seidel.

    relative, absolute: Tolerances of every connected output: of its prediction over one step.
    shortest, longest: Bounds of the step; the first one is the communication step.
    """
    plan = replace(gauss_seidel(system), coupling=Coupling.AHEAD)
    return _controlled(plan, StepMethod.EMBEDDED, relative, absolute, shortest, longest)


@_built_in
def ecco(
    system: System,
    relative: float = 1e-4,
    absolute: float = 1e-6,
    shortest: str | float = "1 us",
    longest: str | float | None = None,
) -> Plan:
    """Make steps so short that the coupling makes little energy: ECCO, with Jacobi.

    Needs power bonds: pairs of opposite connections between two components whose product is a
    power. They are found by their units. Nothing is repeated.

    relative, absolute: Tolerances of the energy that a bond makes in one step, absolute in J.
    shortest, longest: Bounds of the step; the first one is the communication step.
    """
    return _controlled(jacobi(system), StepMethod.ECCO, relative, absolute, shortest, longest)


def _one_of(option: str, name: str, choices: Mapping[str, _Chosen]) -> _Chosen:
    """Return what the value of an option stands for."""
    if name not in choices:
        raise UnknownNameError(f"{option}: expected one of {', '.join(choices)}, found {name!r}")
    return choices[name]


def _iterated(system: System, loops: Loops, coupling: Coupling = Coupling.MEAN) -> Plan:
    """Order the components as Gauss-Seidel does, and iterate the rings."""
    alone = {
        line.source.component
        for line in system.connections
        if line.source.component == line.target.component and line.delay is None
    }
    groups = [
        Group(tuple(ring), loop=len(ring) > 1 or ring[0] in alone)
        for ring in stepping_order(system)
    ]
    return Plan(tuple(groups), coupling, loops)


def _controlled(
    plan: Plan,
    method: StepMethod,
    relative: float,
    absolute: float,
    shortest: str | float,
    longest: str | float | None,
    order: int = 1,
) -> Plan:
    """Return a plan whose steps are chosen, within bounds that are seconds or text."""
    least_ns = nanoseconds(shortest, "shortest step")
    most_ns = None if longest is None else nanoseconds(longest, "longest step")
    control = StepSizeControl(method, relative, absolute, order, least_ns, most_ns)
    return replace(plan, step_size_control=control)


DEFAULT_ALGORITHM = "gauss-seidel"


_GROUP = FunctionGroup("softdock.algorithms", "algorithm")


def algorithm_names() -> list[str]:
    """Return the names of all registered algorithms (entry points ``softdock.algorithms``)."""
    return _GROUP.names


def algorithm(name: str) -> Algorithm:
    """Find an algorithm by name."""
    if name in BUILT_IN:
        return BUILT_IN[name]
    if name not in _GROUP.entry_points:
        raise UnknownNameError(
            f"no algorithm '{name}'{choices_for(name, _GROUP.names, 'algorithm')}"
        )
    return _GROUP.function_of(name)


def plan_of(name: str, system: System, options: Mapping[str, Any]) -> Plan:
    """Let an algorithm decide how a system is stepped."""
    function = algorithm(name)
    option_names = list(inspect.signature(function).parameters)[1:]
    if unknown := [key for key in options if key not in option_names]:
        raise UnknownNameError(
            f"algorithm '{name}' has no option {enumerated(map(repr, unknown))}"
            f"{choices_for(unknown[0], option_names, 'option', 'its')}"
        )
    try:
        with exits_are_errors():
            plan = function(system, **options)
    except SoftdockError as error:
        kind = type(error) if isinstance(error, DescriptionError) else DescriptionError
        raise kind(f"algorithm '{name}': {error}") from None
    except TypeError as error:
        raise DescriptionError(
            f"algorithm '{name}': an option has a wrong type: {error}"
        ) from error
    except Exception as error:
        raise PluginError(f"{_GROUP.title(name)}: {failure(error)}") from error
    if not isinstance(plan, Plan):
        raise PluginError(f"{_GROUP.title(name)} returned {type(plan).__name__}; expected a Plan")
    names = [name for group in plan.groups for name in group.members]
    if sorted(names) != sorted(system.components):
        raise PluginError(
            f"algorithm '{name}' returned the groups {[g.members for g in plan.groups]}; expected"
            f" every component once: {', '.join(system.components)}"
        )
    return plan
