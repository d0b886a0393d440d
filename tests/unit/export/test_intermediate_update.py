"""FMI 3.0 co-simulation asks for its inputs while it steps, and follows the answers."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fmpy import extract, read_model_description
from fmpy.fmi1 import FMICallException
from fmpy.fmi3 import FMU3Slave

from orchestrator.export import build_model

MODEL = """model Ramp
  input Real u(start=0); input Real w; input Integer n;
  output Real x(start=0, fixed=true);
  output Real y;
  output Integer count(start=0);
equation
  der(x) = u - w*x;
  y = 3*u;
  when u > 0.5 then count = pre(count) + 1; end when;
end Ramp;
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("ramp")
    (root / "Ramp.mo").write_text(MODEL, encoding="utf-8")
    return build_model("Ramp", root, root / "build", fmi=("3.0",)).path


Answers = dict[str, Callable[[float], float]]


class Asked:
    """An instance whose inputs a function of time answers."""

    def __init__(self, built: Path, folder: Path, answers: Answers, **options: Any) -> None:
        self.description = read_model_description(str(built))
        self.at = {v.name: v.valueReference for v in self.description.modelVariables}
        self.answers, self.times = answers, []
        self.messages: list[str] = []
        self.refused = False
        self.fmu = FMU3Slave(
            guid=self.description.guid,
            unzipDirectory=extract(str(built), str(folder)),
            modelIdentifier=self.description.coSimulation.modelIdentifier,
            instanceName="unit",
        )
        required = [self.at[name] for name in options.pop("required", answers)]
        self.fmu.instantiate(
            logMessage=self._log,
            intermediateUpdate=options.pop("update", self._update),
            requiredIntermediateVariables=required,
            **options,
        )
        self.fmu.enterInitializationMode(startTime=0.0)
        self.fmu.exitInitializationMode()

    def _log(self, environment: Any, status: int, category: bytes, text: bytes) -> None:
        self.messages.append(text.decode())

    def _update(
        self, environment: Any, time: float, wanted: bool, readable: bool, done: bool, *rest: Any
    ) -> None:
        assert (wanted, readable, done) == (True, False, False)
        self.times.append(time)
        for name, answer in self.answers.items():
            try:
                self.fmu.setFloat64([self.at[name]], [answer(time)])
            except FMICallException:
                self.refused = True

    def step(self, time: float, size: float) -> Any:
        return self.fmu.doStep(time, size)

    def get(self, *names: str) -> list[float]:
        return list(self.fmu.getFloat64([self.at[name] for name in names]))


def cubic(t: float) -> float:
    return 0.3 + 2.0 * t - 5.0 * t**2 + 4.0 * t**3


def test_a_cubic_is_integrated_exactly(built: Path, tmp_path: Path) -> None:
    unit = Asked(built, tmp_path, {"u": cubic})
    for k in range(4):
        unit.step(0.25 * k, 0.25)
    exact = 0.3 + 2.0 / 2 - 5.0 / 3 + 4.0 / 4
    assert unit.get("x") == pytest.approx([exact], rel=1e-13)
    assert unit.get("u", "y") == pytest.approx([cubic(1.0), 3 * cubic(1.0)], rel=1e-14)
    assert unit.times[:5] == pytest.approx([0.0, 0.25 / 3, 0.5 / 3, 0.25, 0.25])


def test_the_error_of_any_signal_is_of_fourth_order(built: Path, tmp_path: Path) -> None:
    """Of interpolation by a cubic; x' = sin(t) - x/2 in closed form."""
    errors = []
    for count in (4, 8):
        unit = Asked(built, tmp_path / str(count), {"u": math.sin, "w": lambda t: 0.5})
        for k in range(count):
            unit.step(2.0 * k / count, 2.0 / count)
        exact = (0.5 * math.sin(2.0) - math.cos(2.0) + math.exp(-1.0)) / 1.25
        errors.append(unit.get("x")[0] - exact)
    assert math.log2(abs(errors[0] / errors[1])) == pytest.approx(4.0, abs=0.4)


def test_what_is_not_required_stays_as_it_was_set(built: Path, tmp_path: Path) -> None:
    unit = Asked(built, tmp_path, {"u": lambda t: t})
    unit.fmu.setFloat64([unit.at["w"]], [0.5])
    unit.step(0.0, 0.5)
    assert unit.get("u", "w") == [0.5, 0.5]


def test_an_event_lies_where_the_answers_cross(built: Path, tmp_path: Path) -> None:
    """With event mode and early return: after the event it asks anew, from there on."""
    options = {"eventModeUsed": True, "earlyReturnAllowed": True}
    unit = Asked(built, tmp_path, {"u": lambda t: t * t}, **options)
    unit.fmu.updateDiscreteStates()
    unit.fmu.enterStepMode()
    event, _, early, last = unit.step(0.0, 1.0)
    assert event
    assert early
    assert last == pytest.approx(math.sqrt(0.5), abs=1e-9)
    assert unit.get("u") == pytest.approx([0.5], abs=1e-8)
    unit.fmu.enterEventMode()
    unit.fmu.updateDiscreteStates()
    unit.fmu.enterStepMode()
    assert list(unit.fmu.getInt32([unit.at["count"]])) == [1]
    unit.step(last, 1.0 - last)
    assert unit.times[4] == pytest.approx(last)
    assert unit.get("u", "x") == pytest.approx([1.0, 1.0 / 3.0], abs=1e-8)


def test_the_state_of_the_fmu_goes_back(built: Path, tmp_path: Path) -> None:
    unit = Asked(built, tmp_path, {"u": cubic})
    unit.step(0.0, 0.5)
    saved = unit.fmu.getFMUState()
    rows = []
    for _ in range(2):
        unit.step(0.5, 0.5)
        rows.append(unit.get("x", "u", "y"))
        unit.fmu.setFMUState(saved)
    assert rows[0] == rows[1]


@pytest.mark.parametrize(
    ("change", "pattern"),
    [
        ({"required": ["x"]}, "is for continuous inputs only"),
        ({"required": ["n"]}, "is for continuous inputs only"),
        ({"update": None}, "are required without a callback"),
    ],
    ids=["an output", "an Integer", "no callback"],
)
def test_instances_that_are_refused(
    built: Path,
    tmp_path: Path,
    change: dict[str, Any],
    pattern: str,
) -> None:
    told: list[str] = []

    class Listening(Asked):
        def _log(self, environment: Any, status: int, category: bytes, text: bytes) -> None:
            told.append(text.decode())

    with pytest.raises(Exception, match="Failed to instantiate"):
        Listening(built, tmp_path, {"u": cubic}, **change)
    assert pattern in told[-1]


@pytest.mark.parametrize(
    ("answers", "pattern"),
    [
        ({"u": lambda t: math.nan}, "the value for 'u' would be nan"),
        ({"u": cubic, "w": cubic}, "'w' was not required"),
    ],
    ids=["no number", "not required"],
)
def test_answers_that_are_refused(
    built: Path, tmp_path: Path, answers: Answers, pattern: str
) -> None:
    unit = Asked(built, tmp_path, answers, required=["u"])
    unit.step(0.0, 0.1)
    assert unit.refused
    assert pattern in unit.messages[-1]
