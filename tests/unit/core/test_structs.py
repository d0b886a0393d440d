"""Values of named fields: what dataclasses do with them, and what they refuse."""

import pickle
from dataclasses import MISSING, asdict, astuple, fields, is_dataclass, replace
from functools import cached_property

import pytest

from orchestrator.core import structs
from orchestrator.core.structs import MutableStruct, Struct, field


class Point(Struct):
    x: float
    y: float = 0.0
    seen: list[str] = field(default_factory=list)


class Named(Point):
    name: str = "p"


class Count(MutableStruct):
    of: Point
    number: int = 0


def test_fields_are_those_of_a_dataclass():
    described = fields(Named)
    assert [each.name for each in described] == ["x", "y", "seen", "name"]
    assert [each.type for each in described] == [float, float, list[str], str]
    assert [each.default for each in described] == [MISSING, 0.0, MISSING, "p"]
    assert [each.default_factory for each in described] == [MISSING, MISSING, list, MISSING]
    assert is_dataclass(Named)
    assert is_dataclass(Count(Point(1.0)))


@pytest.mark.parametrize("change", [replace, structs.replace])
def test_a_copy_with_changes(change):
    one = Named(1.0, name="a")
    other = change(one, y=2.0)
    assert other == Named(1.0, 2.0, name="a")
    assert one == Named(1.0, name="a")
    with pytest.raises(TypeError, match="z"):
        change(one, z=3.0)


def test_plain_data_of_what_is_inside_too():
    count = Count(Named(1.0, seen=["here"]), 3)
    assert asdict(count) == {
        "of": {"x": 1.0, "y": 0.0, "seen": ["here"], "name": "p"},
        "number": 3,
    }
    assert astuple(count) == ((1.0, 0.0, ["here"], "p"), 3)


def test_a_value_does_not_change_and_is_that_of_its_class():
    point = Point(1.0)
    with pytest.raises(AttributeError, match="immutable"):
        point.x = 2.0
    with pytest.raises(AttributeError):
        point.z = 2.0
    assert point != Named(1.0)
    assert pickle.loads(pickle.dumps(point)) == point  # noqa: S301
    assert repr(point) == "Point(x=1.0, y=0.0, seen=[])"


def test_one_that_changes_is_not_hashed():
    count = Count(Point(1.0))
    count.number += 1
    assert count == Count(Point(1.0), 1)
    with pytest.raises(TypeError, match="unhashable"):
        hash(count)


def test_what_is_computed_once_is_no_part_of_a_copy():
    class Square(Struct, dict=True):
        side: float

        @cached_property
        def area(self) -> float:
            return self.side**2

    square = Square(3.0)
    assert square.area == 9.0
    assert replace(square, side=2.0).area == 4.0
    assert structs.replace(square, side=2.0).area == 4.0


def test_what_is_wrong_is_refused_again_in_a_copy():
    class Positive(Struct):
        number: int

        def __post_init__(self) -> None:
            if self.number <= 0:
                raise ValueError("expected a positive number")

    for change in (replace, structs.replace):
        with pytest.raises(ValueError, match="positive"):
            change(Positive(1), number=0)
