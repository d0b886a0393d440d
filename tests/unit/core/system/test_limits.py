from __future__ import annotations

import math

import pytest

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.system.ports import Limits


@pytest.mark.parametrize(
    ("ends", "inside", "outside", "text"),
    [
        ({"minimum": 0.0}, (0.0, 1e300, math.inf), (-5e-324, -math.inf, math.nan), ">= 0"),
        ({"above": 0.0}, (5e-324,), (0.0, -0.0, -1.0, math.nan), "> 0"),
        ({"above": 0.0, "maximum": 1.0}, (0.1, 1.0), (0.0, 1.1), "> 0 and <= 1"),
        ({"minimum": -1, "below": 2}, (-1, 1), (-2, 2), ">= -1 and < 2"),
        ({"maximum": 3.0}, (3.0, -math.inf), (3.1, math.nan), "<= 3"),
    ],
)
def test_ends(
    ends: dict[str, float], inside: tuple[float, ...], outside: tuple[float, ...], text: str
) -> None:
    limits = Limits.of(**ends)
    assert limits is not None
    assert all(map(limits.admits, inside))
    assert not any(map(limits.admits, outside))
    assert str(limits) == text


def test_no_ends_are_no_limits() -> None:
    assert Limits.of() is None


@pytest.mark.parametrize(
    "ends",
    [{"minimum": 0.0, "above": 0.0}, {"maximum": 1.0, "below": 2.0}, {"above": 1, "below": 1}],
)
def test_ends_that_contradict(ends: dict[str, float], wording) -> None:
    with wording.raises(DescriptionError):
        Limits.of(**ends)
