"""Names that a block assigns and does not declare."""

from abc import ABC

import numpy as np
import pytest

from orchestrator import Block, Input, Output, Parameter, State, System, block, resolve
from orchestrator.core.diagnostics import DescriptionError


class Base(Block):
    """Assigns an output that those derived from it declare."""

    def limit(self):
        self.limited = True


class Right(Base):
    u: float = Input()
    y: float = Output()
    limited: bool = Output()
    tau: float = Parameter(start=1.0)
    past: float = State(start=0.0)
    v: np.ndarray = Output(shape=(2,))
    scale = 2.0
    note: str

    def __init__(self, **values):
        super().__init__(**values)
        self.table = [1.0, 2.0]

    def initialise(self, t):
        self._cache = {}
        self.past, self.y = 0.0, 0.0

    def step(self, t, h):
        self.table = self.table[::-1]
        self.scale = self.note = 3.0
        self.v[:] = 1.0
        other = Right
        other.anything = 1.0
        self.limit()
        self.y = sum(self.u for _ in range(2))


class Wrong(Right):
    def step(self, t, h):
        if t > 1e9:
            self.tua = 3.0
        self.y, self.pats = 1.0, [self.u for _ in range(2)]
        self.y += sum(self.u for _ in range(2))

    def initialise(self, t):
        function = lambda: self.y  # noqa: E731 - so that self is a cell
        self.limitt = function()


def test_names_that_are_declared():
    resolve(System("s").add("c", block(Right), u=1.0))
    Right().step(0.0, 0.1)


def told():
    with pytest.raises(DescriptionError) as caught:
        block(Wrong)
    return caught.value.problems


def test_every_name_that_is_not_declared_is_told():
    first, second, third = sorted(told())
    assert first.startswith("block Wrong: 'limitt' is assigned in initialise (")
    assert ". Did you mean 'limited'?" in first
    assert second.startswith("block Wrong: 'pats' is assigned in step (")
    assert "Did you mean 'past'?" in second
    assert "Did you mean 'tau'?" in third
    assert "tua: float = State(start=..)" in third
    assert "self._tua" in third
    assert "test_block_names.py, line " in third


def test_an_instance_made_by_hand_is_refused_too(wording):
    with wording.raises(DescriptionError):
        Wrong()


def test_all_registered_blocks_declare_their_names():
    from orchestrator.core.simunits import block_names

    for name in block_names():
        block(name)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (Input(), Output(), "'y' is declared as an input and then again as an output"),
        (Output(), Input(), "'y' is declared as an output and then again as an input"),
        (Output(), State(start=0.0), "'y' is declared as an output and then again as a state"),
        (Parameter(start=1.0), 2.0, "'y' is declared as a parameter and then again with a value"),
        (Input(), lambda self: 1.0, "'y' is declared as an input and then again with a value"),
    ],
)
def test_the_body_of_a_class_declares_a_name_once(first, second, expected):
    with pytest.raises(DescriptionError, match=f"block Twice: {expected}; expected a name for"):

        class Twice(Block):
            locals().update(y=first)
            y: float = second


def test_a_class_may_declare_a_name_of_its_base_again():
    class Changed(Right):
        u: float = Output()
        plain = 1.0
        plain += 1.0

    assert block(Changed).connectors["u"].causality == "output"
    assert Changed.plain == 2.0


def test_a_block_may_have_an_abstract_base():
    class Abstract(Block, ABC):
        u: float = Input()

    assert list(Abstract.connectors) == ["u"]
