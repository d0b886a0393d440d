"""The base class of Python blocks, and how their connectors and states are declared."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, ClassVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import (
    CapabilityError,
    DescriptionError,
    UnknownNameError,
    choices_for,
    with_article,
)
from orchestrator.core.simunits.blocks.method_checks import expect_arguments, expect_declared
from orchestrator.core.simunits.protocol import Notice
from orchestrator.core.structs import Struct
from orchestrator.core.system import Causality, Connector, DataType, Value
from orchestrator.core.system.ports import Limits, plain_value

_TYPES = {
    float: DataType.REAL,
    int: DataType.INTEGER,
    bool: DataType.BOOLEAN,
    str: DataType.STRING,
    bytes: DataType.BINARY,
}


class Declared(Struct):
    """What ``Input(...)`` and its like leave in the class until it is complete."""

    causality: Causality | None  # None: a state
    unit: str | None
    shape: tuple[int, ...]
    description: str
    start: Any
    depends_on: tuple[str, ...] | None = None
    limits: Limits | None = None
    tunable: bool = False


def Input(  # noqa: N802 - reads as a declaration
    *, unit: str | None = None, description: str = "", shape: tuple[int, ...] = (), start: Any = 0.0
) -> Any:
    """Declare an input of a :class:`Block`: ``position: float = Input(unit="m")``.

    Parameters
    ----------
    unit
        In Modelica notation, such as ``"N.s/m"`` or ``"1"``; ``None``: not declared.
    description
        One line that names the quantity.
    shape
        Of an array of float64; ``()`` for a scalar, whose annotation gives the type.
    start
        Value before the first exchange.
    """
    return Declared(Causality.INPUT, unit, shape, description, start)


def Output(  # noqa: N802
    *,
    unit: str | None = None,
    description: str = "",
    shape: tuple[int, ...] = (),
    start: Any = 0.0,
    depends_on: tuple[str, ...] | None = None,
) -> Any:
    """Declare an output of a :class:`Block`: ``force: float = Output(unit="N")``.

    Parameters
    ----------
    unit, description, shape, start
        As of :func:`Input`.
    depends_on
        Inputs that act on the output at once (direct feed-through): ``None`` means all of them,
        ``()`` none.
    """
    return Declared(Causality.OUTPUT, unit, shape, description, start, depends_on)


def Parameter(  # noqa: N802
    *,
    unit: str | None = None,
    description: str = "",
    start: Any,
    shape: tuple[int, ...] = (),
    minimum: float | None = None,
    maximum: float | None = None,
    above: float | None = None,
    below: float | None = None,
    tunable: bool = False,
) -> Any:
    """Declare a parameter of a :class:`Block`: ``k: float = Parameter(start=10.0, unit="N/m")``.

    Parameters
    ----------
    unit, description, shape
        As of :func:`Input`.
    start
        Default value.
    minimum, maximum
        Smallest and largest allowed value; other values are refused before the run.
    above, below
        Bounds that are not allowed values themselves.
    tunable
        Whether the value may change between two steps of a run. Then ``step`` must read it each
        time; the other parameters stay constant.
    """
    limits = Limits.of(minimum, maximum, above, below)
    return Declared(
        Causality.PARAMETER, unit, shape, description, start, limits=limits, tunable=tunable
    )


def State(  # noqa: N802
    *, start: Any, description: str = ""
) -> Any:
    """Declare a state of a :class:`Block`: ``speed: float = State(start=0.0)``.

    A state keeps its value from step to step, and is saved and restored with the block.

    Parameters
    ----------
    start
        Value at the start of a run; a copy is assigned, so it may be a list or an array.
    description
        One line that names the quantity.
    """
    return Declared(None, None, (), description, start)


#: What a value of a type starts from; a text has no zero but the empty one.
_STARTS: Mapping[DataType, Callable[[Any], Any]] = {
    DataType.REAL: float,
    DataType.INTEGER: int,
    DataType.BOOLEAN: bool,
    DataType.STRING: lambda start: start or "",
    DataType.BINARY: lambda start: start or b"",
}


def connector_of(block: str, name: str, item: Declared, annotated: object) -> Connector:
    """Make the connector that a class attribute declares."""
    kind = _TYPES.get(annotated) if isinstance(annotated, type) else None
    if item.shape and (kind is None or not kind.is_text):
        kind = DataType.REAL
    if item.causality is None or kind is None or (item.shape and kind.is_text):
        raise DescriptionError(
            f"block {block}.{name}: annotated {annotated}; expected float, int,"
            " bool, str or bytes, or a shape for an array of float"
        )
    if item.shape:
        filled = np.broadcast_to(np.asarray(item.start, dtype=np.float64), item.shape)
        start = tuple(filled.ravel().tolist())
    else:
        try:
            start = _STARTS[kind](item.start)
        except (OverflowError, TypeError, ValueError):
            raise DescriptionError(
                f"block {block}.{name}: start: expected {with_article(kind)}, found {item.start!r}"
            ) from None
    connector = Connector(
        name,
        item.causality,
        kind,
        item.unit,
        item.shape,
        item.description,
        start,
        limits=item.limits,
    )
    if (refusal := connector.refusal(start)) is not None:
        raise DescriptionError(f"block {block}: {name}: its default: {refusal}")
    return connector


#: What shares no memory, and most of what is assigned.
PLAIN_TYPES = frozenset({float, int, bool, str, bytes, type(None)})


class OwnState:
    """Copies what is assigned to a state of a block if it has arrays in it.

    It has no ``__get__``: reading finds the value in the instance, as that of any attribute.
    """

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __set__(self, owner: object, value: Any) -> None:
        vars(owner)[self._name] = value if type(value) in PLAIN_TYPES else _private_copy(value)


def _private_copy(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy()
    items = value.values() if isinstance(value, dict) else value
    if isinstance(value, (tuple, list, dict)) and any(type(v) not in PLAIN_TYPES for v in items):
        return deepcopy(value)
    return value


Floats = NDArray[np.float64]
#: Highest derivative of an input that a block is given.
INPUT_ORDER = 3


class _ClassBody(dict[str, object]):
    """The names of a class while its body runs; refuses a second value for a connector."""

    def __init__(self, block: str) -> None:
        super().__init__()
        self._block = block

    def __setitem__(self, name: str, value: object) -> None:
        before = self.get(name)
        if isinstance(before, Declared):
            kind = _kind_of(before)
            new = f"as {_kind_of(value)}" if isinstance(value, Declared) else "with a value"
            raise DescriptionError(
                f"block {self._block}: '{name}' is declared as {kind} and then again {new};"
                " expected a name for each connector and state: rename one of them"
            )
        super().__setitem__(name, value)


def _kind_of(item: Declared) -> str:
    return "a state" if item.causality is None else with_article(item.causality)


class BlockType(ABCMeta):
    """The type of block classes, so that no connector silently takes the name of another."""

    @classmethod
    def __prepare__(cls, name: str, bases: tuple[type, ...], /, **_: Any) -> _ClassBody:
        return _ClassBody(name)


class Block(metaclass=BlockType):
    """A unit that is written in Python.

    A subclass declares its connectors as class attributes with :func:`Input`, :func:`Output`,
    :func:`Parameter` and :func:`State`; the annotation gives the type (``float``, ``int``,
    ``bool``, ``str``, ``bytes``; with ``shape`` a float64 array). On an instance each is a plain
    attribute. An array
    connector's memory is shared with the engine: write into it (``self.force[:] = ...``).

    Parameters
    ----------
    **values
        Parameters, and start values of inputs.

    Raises
    ------
    DescriptionError
        If a value has no such parameter or input, is of another type, or beyond its limits; or a
        method assigns a name that is not declared. Declared are connectors and states, what the
        class names in its body, and what ``__init__`` assigns. Names with an underscore in front
        are free; what they hold is not saved with the block. Also if the body of a class declares
        a name twice.
    """

    connectors: ClassVar[Mapping[str, Connector]] = {}
    feedthrough: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    states: ClassVar[Mapping[str, Any]] = {}
    #: Names of the parameters that may be set between two steps.
    tunable: ClassVar[frozenset[str]] = frozenset()
    _is_declared: ClassVar[bool]
    #: Longest step that the block can take, in seconds; ``None``: any.
    longest_step: ClassVar[float | None] = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        hints = get_type_hints(cls)
        connectors = dict(cls.connectors)
        feedthrough = dict(cls.feedthrough)
        states = dict(cls.states)
        for name, item in list(vars(cls).items()):
            if not isinstance(item, Declared):
                continue
            delattr(cls, name)
            feedthrough.pop(name, None)  # what a base class declared under this name
            if item.causality is None:
                connectors.pop(name, None)
                states[name] = item.start
                if hints.get(name) not in PLAIN_TYPES or type(item.start) not in PLAIN_TYPES:
                    setattr(cls, name, OwnState(name))
                continue
            states.pop(name, None)
            cls.tunable = cls.tunable - {name} | ({name} if item.tunable else set())
            connectors[name] = connector_of(cls.__name__, name, item, hints.get(name, float))
            if item.causality is Causality.OUTPUT and item.depends_on is not None:
                feedthrough[name] = item.depends_on
        cls.connectors = connectors
        cls.feedthrough, cls.states = feedthrough, states
        inputs = [c.name for c in connectors.values() if c.causality is Causality.INPUT]
        for name, names in feedthrough.items():
            if not set(names) <= set(inputs):
                raise DescriptionError(
                    f"block {cls.__name__}.{name}: depends_on={names!r}; expected a tuple of"
                    f" inputs: {', '.join(inputs) or 'it has none'}"
                )

    @classmethod
    def expect_declared(cls) -> None:
        """Raise DescriptionError if methods assign names that the block does not declare."""
        if "_is_declared" not in vars(cls):
            if cls.follows_inputs() and cls.step is not Block.step:
                raise DescriptionError(
                    f"block {cls.__name__} defines both step(t, h) and follow(t, h, inputs):"
                    " expected one of them; for held inputs, follow gets derivatives of zero"
                )
            for name in ("initialise", "step", "follow"):
                expect_arguments(cls, Block, name)
            expect_declared(cls, cls.connectors, cls.states)
            cls._is_declared = True

    def __init__(self, **values: Value) -> None:
        self.expect_declared()
        problems: list[str] = []
        for connector in self.connectors.values():
            self.assign(connector, connector.start)
        for name, value in values.items():
            declared = self.connectors.get(name)
            if declared is None or declared.causality is Causality.OUTPUT:
                settable = [
                    c.name for c in self.connectors.values() if c.causality is not Causality.OUTPUT
                ]
                raise UnknownNameError(
                    f"block {type(self).__name__} has no parameter or input '{name}'"
                    f"{choices_for(name, settable, 'parameter or input', 'its')}"
                )
            value = plain_value(value, declared)  # noqa: PLW2901 - the same, as a plain value
            if not declared.accepts(value):
                shape = f" of shape {declared.shape}" if declared.shape else ""
                raise DescriptionError(
                    f"block {type(self).__name__}.{name}: expected"
                    f" {with_article(declared.type)}{shape}, found {value!r}"
                )
            if (refusal := declared.refusal(value)) is not None:
                problems.append(f"block {type(self).__name__}: {name}: {refusal}")
                continue
            self.assign(declared, value)
        if problems:
            raise DescriptionError(*problems)
        for name, start in self.states.items():
            setattr(self, name, deepcopy(start))

    def assign(self, connector: Connector, value: Any) -> None:
        """Give a connector a value of its own type and shape."""
        if connector.shape:
            value = np.array(value, dtype=np.float64).reshape(connector.shape)
            if isinstance(held := getattr(self, connector.name, None), np.ndarray):
                held[...] = value  # the engine may already point at this memory
                return
        elif connector.type is DataType.REAL:
            value = float(value)
        setattr(self, connector.name, value)

    def initialise(self, t: float) -> None:
        """Compute the outputs at the start time from inputs and parameters.

        The default is a step of length zero. A block whose step divides by ``h`` or counts its
        calls overrides this.

        Parameters
        ----------
        t
            Start time in seconds.
        """
        self.step(t, 0.0)

    def step(self, t: float, h: float) -> None:
        """Advance from ``t`` to ``t + h`` (seconds) with the inputs held, and set the outputs."""
        if self.follows_inputs():
            self.follow(t, h, self.held_inputs())
            return
        raise NotImplementedError(f"block {type(self).__name__} does not define step(t, h)")

    def follow(self, t: float, h: float, inputs: Mapping[str, Floats]) -> None:
        """Advance from ``t`` to ``t + h`` (seconds) with inputs that move, and set the outputs.

        A block defines it in place of :meth:`step` if it can take what its inputs do over the step.

        Parameters
        ----------
        t, h
            Begin and length of the step in seconds.
        inputs
            By the name of each Real input, float64 of shape (4, ...): its value at ``t`` and its
            first three derivatives there, per s, s2 and s3. Zero where the input is held. They
            are overwritten by the next step.
        """
        raise NotImplementedError(f"block {type(self).__name__} does not define follow")

    @classmethod
    def follows_inputs(cls) -> bool:
        """Whether the block takes what its inputs do over a step: it defines :meth:`follow`."""
        return cls.follow is not Block.follow

    def held_inputs(self) -> dict[str, Floats]:
        """Return the present values of all Real inputs, without derivatives, for :meth:`follow`."""
        windows = {}
        for name, connector in self.connectors.items():
            if connector.causality is Causality.INPUT and connector.type is DataType.REAL:
                windows[name] = np.zeros((1 + INPUT_ORDER, *connector.shape))
                windows[name][0] = getattr(self, name)
        return windows

    def notices(self) -> tuple[Notice, ...]:
        """Say what whoever runs the block must know of this run so far.

        They must follow from connectors and states, so that a step that is taken back takes its
        notices with it. The default says nothing.
        """
        return ()

    def get_state(self) -> dict[str, Any]:
        """Return a copy of everything that the next step depends on, connectors included.

        Raises
        ------
        CapabilityError
            If the block keeps attributes that are not declared: they would not be restored. A
            block that needs none of them, or keeps more, overrides this and :meth:`set_state`.
        """
        names = dict.fromkeys((*self.connectors, *self.states))
        if hidden := [name for name in vars(self) if name not in names]:
            raise CapabilityError(
                f"block {type(self).__name__} keeps {', '.join(map(repr, hidden))}, which is not"
                " declared and would not be saved: declare it with State(start=..), or define"
                " get_state and set_state"
            )
        return {name: deepcopy(getattr(self, name)) for name in names}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go back to a state that :meth:`get_state` returned; array memory stays where it is."""
        for name, value in state.items():
            connector = self.connectors.get(name)
            if connector is not None and connector.shape:
                getattr(self, name)[...] = value
            else:
                setattr(self, name, deepcopy(value))


def where(condition: Any, then: Any, otherwise: Any) -> Any:
    """Return one of two values, as ``then if condition else otherwise`` does.

    A block that chooses by ``where`` instead of ``if`` can be exported without Python. Both values
    are computed before one is chosen; conditions are joined by ``&`` and ``|``.

    Parameters
    ----------
    condition
        A bool, or an array of them; while a block is traced, a symbol.
    then, otherwise
        Numbers, or arrays that broadcast with the condition.
    """
    if condition is True:  # the usual case first: blocks call this in every step
        return then
    if condition is False:
        return otherwise
    if isinstance(condition, np.bool_):
        return then if condition else otherwise
    choose = getattr(condition, "if_else", None)
    if choose is not None:
        return choose(then, otherwise)
    return np.where(condition, then, otherwise)
