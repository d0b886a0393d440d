"""Parameters and start values outside of their limits are refused with a message."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fmpy.fmi1 import FMICallException

Open = Callable[..., Any]

TANK = """model Tank "limits of every kind"
  parameter Real area(min=1e-3, max=10) = 1;
  parameter Integer holes(min=0, max=4) = 1;
  parameter Real free = 1;
  output Real level(start=0.5, fixed=true, min=0, max=2);
equation
  der(level) = -holes*free/area*level;
end Tank;
"""


@pytest.fixture
def tank(build_text: Any, open_fmu: Open) -> Any:
    return open_fmu(build_text("Tank", TANK))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"area": 0.0}, "fmi2SetReal: 'area' = 0 is outside of its limits: min 0.001"),
        ({"area": 11.0}, "'area' = 11 is outside of its limits: min 0.001"),
        ({"holes": 5}, "fmi2SetInteger: 'holes' = 5 is outside of its limits: min 0, max 4"),
        ({"level": -1.0}, "'level' = -1 is outside of its limits: min 0, max 2"),
    ],
)
def test_refused(tank: Any, values: dict[str, float], message: str) -> None:
    with pytest.raises(FMICallException):
        tank.set(**values)
    assert message in tank.messages[-1]
    tank.initialize()  # the instance goes on with the values it had
    assert tank.get("area", "level") == [1.0, 0.5]


def test_limits_belong_to_the_range(tank: Any) -> None:
    tank.initialize(area=10.0, holes=0, level=2.0, free=-1e300)
    assert tank.get("area", "level", "free") == [10.0, 2.0, -1e300]


def test_a_tunable_parameter_is_checked_between_steps(tank: Any, tmp_path: Path) -> None:
    tank.initialize()
    tank.step(0.1)
    with pytest.raises(FMICallException):
        tank.set(area=-1.0)
    assert "'area' = -1" in tank.messages[-1]
    tank.step(0.1)
