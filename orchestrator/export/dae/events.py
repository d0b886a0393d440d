"""What happens at instants: relations that switch, discrete variables, reinit, assert, terminate.

Modelica 3.6, sections 8.5 and 8.6. All expressions are ``casadi.SX`` scalars. Besides the variables
of the model they may contain the symbols that are declared here: those of relations and samplers (1
if true), the values of discrete variables before the event, and the flag of the initial event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import casadi as ca

from orchestrator.core.structs import Struct, field, replace

_Scalar = Any  # casadi.SX of shape (1, 1)


class Relation(Struct):
    """A comparison of continuous expressions; its value changes at events only.

    Attributes
    ----------
    margin
        Positive where the relation holds, negative where it does not.
    strict
        At a margin of exactly zero it does not hold.
    size
        Sum of the magnitudes that are compared: the scale of rounding errors.
    label
        The comparison as a person reads it.
    """

    symbol: _Scalar
    margin: _Scalar
    strict: bool
    size: _Scalar
    label: str

    @property
    def value(self) -> _Scalar:
        """The comparison itself."""
        return self.margin > 0 if self.strict else self.margin >= 0


class Sampler(Struct):
    """``sample(start, interval)``, true at the instants start + i * interval, in seconds."""

    symbol: _Scalar
    start: _Scalar
    interval: _Scalar


class DiscreteEquation(Struct):
    """Value of a discrete variable at an event.

    Attributes
    ----------
    symbol, pre
        The variable now and before the event.
    value
        What it becomes.
    start
        Its value before the initial event: an expression, of initial equations too.
    exact
        The start value is a number that holds after initialisation.
    label
        The variable; or, for what is none of the model, the condition of a when clause or the
        rounded value that it stands for.
    """

    symbol: _Scalar
    pre: _Scalar
    value: _Scalar
    start: _Scalar
    exact: bool
    label: str


class Reinit(Struct):
    """``reinit(state, value)`` where ``active`` is true."""

    state: str
    active: _Scalar
    value: _Scalar
    origin: str


class Message(Struct):
    """Text with numbers in it: pieces that are texts or expressions."""

    pieces: tuple[Any, ...]

    @property
    def numbers(self) -> tuple[_Scalar, ...]:
        """The expressions."""
        return tuple(piece for piece in self.pieces if not isinstance(piece, str))


class Assertion(Struct):
    """``assert(condition, message, level)``; an error unless ``level`` is 1.

    ``instant``: of a when clause, so it is looked at during the event only.
    """

    condition: _Scalar
    message: Message
    level: _Scalar
    instant: bool
    origin: str


class Termination(Struct):
    """``terminate(message)`` where ``active`` is true."""

    active: _Scalar
    message: Message


class Events(Struct):
    """Everything that happens at instants; empty for a purely continuous model.

    Attributes
    ----------
    initial
        Symbol: 1 during initialisation.
    before
        Continuous variables of which pre() is taken; they must be states.
    has_homotopy
        Whether there are other equations where ``initial`` is 2: the start is solved with those
        first.
    """

    initial: _Scalar = field(default_factory=lambda: ca.SX.sym("initial()"))
    relations: tuple[Relation, ...] = ()
    samplers: tuple[Sampler, ...] = ()
    discrete: tuple[DiscreteEquation, ...] = ()
    reinits: tuple[Reinit, ...] = ()
    assertions: tuple[Assertion, ...] = ()
    terminations: tuple[Termination, ...] = ()
    before: frozenset[str] = frozenset()
    has_homotopy: bool = False

    def __bool__(self) -> bool:
        return bool(self.symbols[1:]) or bool(self.assertions)

    @property
    def symbols(self) -> tuple[_Scalar, ...]:
        """Symbols that change at events only: the initial flag and all others."""
        return (
            self.initial,
            *(d.symbol for d in self.discrete),
            *(d.pre for d in self.discrete),
            *(r.symbol for r in self.relations),
            *(s.symbol for s in self.samplers),
        )

    @property
    def modes(self) -> _Scalar:
        """Column q: discrete values, those before, relations, samplers, initial flag."""
        initial, *others = self.symbols
        return ca.vertcat(*others, initial)

    def expressions(self) -> list[_Scalar]:
        """Every expression, in order."""
        expressions: list[_Scalar] = []

        def note(expression: _Scalar) -> _Scalar:
            expressions.append(expression)
            return expression

        self.map(note)
        return expressions

    def map(self, change: Callable[[_Scalar], _Scalar]) -> Events:
        """The same with every expression changed."""
        changed: dict[str, Any] = {
            group: tuple(_changed(entry, names, change) for entry in getattr(self, group))
            for group, names in _EXPRESSIONS.items()
        }
        return replace(self, **changed)

    def is_time_event(self, relation: Relation, time: _Scalar, moving: _Scalar) -> bool:
        """Whether it changes at a moment that is known beforehand, and holds from then on.

        Parameters
        ----------
        moving
            Column of everything else that moves between events.
        """
        if ca.depends_on(relation.margin, moving):
            return False
        slope = ca.gradient(relation.margin, time)
        if not slope.is_constant() or float(slope) not in {1.0, -1.0}:
            return False
        return relation.strict == (float(slope) < 0)

    def moments(self, time: _Scalar, moving: _Scalar) -> Iterator[_Scalar]:
        """Times of the time events."""
        for relation in self.relations:
            if self.is_time_event(relation, time, moving):
                slope = ca.gradient(relation.margin, time)
                yield -slope * ca.substitute(relation.margin, time, 0)


_EXPRESSIONS = {
    "relations": ("margin", "size"),
    "samplers": ("start", "interval"),
    "discrete": ("value", "start"),
    "reinits": ("active", "value"),
    "assertions": ("condition", "level", "message"),
    "terminations": ("active", "message"),
}


def _changed(entry: Any, names: tuple[str, ...], change: Callable[[_Scalar], _Scalar]) -> Any:
    changed = {}
    for name in names:
        value = getattr(entry, name)
        if isinstance(value, Message):
            pieces = (piece if isinstance(piece, str) else change(piece) for piece in value.pieces)
            changed[name] = Message(tuple(pieces))
        else:
            changed[name] = change(value)
    return replace(entry, **changed)
