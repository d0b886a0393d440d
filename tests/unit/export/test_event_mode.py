"""FMI 3.0 co-simulation with event mode, and how FMI 2.0 and model exchange tell of events."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fmpy import extract, read_model_description
from fmpy.fmi1 import FMICallException
from fmpy.fmi2 import FMU2Model
from fmpy.fmi3 import FMU3Slave

from orchestrator.export import build_model

TEXT = """model Many "state event at 0.25, samples every 0.4, end at 0.9"
  input Real u;
  input Integer k;
  output Real y;
  output Integer n(start=0), s(start=0), c(start=0), j(start=0);
  Real x(start=0, fixed=true);
equation
  der(x) = 1;
  y = x + n;
  when x >= 0.25 then n = pre(n) + 1; end when;
  when sample(0, 0.4) then s = pre(s) + 1; end when;
  when k > 2 then c = pre(c) + 1; end when;
  when u > 0.5 then j = pre(j) + 1; end when;
  when time >= 0.9 then terminate("all is said"); end when;
end Many;
"""
Step = tuple[bool, bool, bool, float]  # event needed, terminate, early return, last time


class Unit:
    """An instance of FMI 3.0 co-simulation."""

    def __init__(self, fmu: Path, folder: Path, *, early: bool) -> None:
        description = read_model_description(str(fmu))
        self.at = {v.name: v.valueReference for v in description.modelVariables}
        self.fmu = FMU3Slave(
            guid=description.guid,
            unzipDirectory=extract(str(fmu), str(folder)),
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName="unit",
        )
        self.messages: list[str] = []
        self.fmu.instantiate(
            eventModeUsed=True, earlyReturnAllowed=early, logMessage=self._log, loggingOn=True
        )
        self.fmu.enterInitializationMode(startTime=0.0)
        self.fmu.exitInitializationMode()

    def _log(self, environment: Any, status: int, category: bytes, text: bytes) -> None:
        self.messages.append(text.decode())

    def whole(self, name: str) -> int:
        return int(self.fmu.getInt32([self.at[name]])[0])

    def real(self, name: str) -> float:
        return float(self.fmu.getFloat64([self.at[name]])[0])

    def step(self, time: float, size: float) -> Step:
        event, terminate, early, last = self.fmu.doStep(time, size)
        return bool(event), bool(terminate), bool(early), float(last)

    def update(self) -> tuple[bool, bool, bool, bool, bool, float]:
        again, terminate, nominals, values, timed, when = self.fmu.updateDiscreteStates()
        flags = bool(again), bool(terminate), bool(nominals), bool(values), bool(timed)
        return (*flags, float(when))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("root")
    (root / "Many.mo").write_text(TEXT, encoding="utf-8")
    return build_model("Many", root, tmp_path_factory.mktemp("out"), fmi=("2.0", "3.0")).files


@pytest.fixture
def make(built: dict[str, Path], tmp_path: Path) -> Iterator[Callable[..., Unit]]:
    """Instances, in event mode after initialisation; the sample of the start still to come."""
    units: list[Unit] = []

    def one(*, early: bool = True, begun: bool = True) -> Unit:
        unit = Unit(built["3.0"], tmp_path / f"unit{len(units)}", early=early)
        units.append(unit)
        if begun:
            unit.update()
            unit.fmu.enterStepMode()
        return unit

    yield one
    for unit in units:
        unit.fmu.freeInstance()


def test_the_first_update_does_the_sample_of_the_start(make: Callable[..., Unit]) -> None:
    unit = make(begun=False)
    assert unit.whole("s") == 0
    assert unit.update() == (False, False, False, False, True, 0.4)
    assert unit.whole("s") == 1


def test_a_state_event_returns_early_and_waits_for_event_mode(make: Callable[..., Unit]) -> None:
    unit = make()
    event, terminate, early, last = unit.step(0.0, 0.3)
    assert (event, terminate, early) == (True, False, True)
    assert last == pytest.approx(0.25, abs=1e-12)
    assert (unit.whole("n"), unit.real("y")) == (0, pytest.approx(0.25))
    unit.fmu.enterEventMode()
    assert unit.update()[4:] == (True, 0.4)
    assert (unit.whole("n"), unit.real("y")) == (1, pytest.approx(1.25))
    unit.fmu.enterStepMode()
    assert unit.step(last, 0.05)[:3] == (False, False, False)


def test_a_sample_returns_at_its_very_instant(make: Callable[..., Unit]) -> None:
    unit = make()
    _, _, _, last = unit.step(0.0, 0.3)
    unit.fmu.enterEventMode()
    unit.update()
    unit.fmu.enterStepMode()
    assert unit.step(last, 0.5) == (True, False, True, 0.4)
    assert unit.whole("s") == 1
    unit.fmu.enterEventMode()
    assert unit.update()[4:] == (True, 0.8)
    assert unit.whole("s") == 2


def test_without_early_return_only_the_event_at_the_end_waits(make: Callable[..., Unit]) -> None:
    unit = make(early=False)
    assert unit.step(0.0, 0.3) == (False, False, False, 0.3)
    assert unit.whole("n") == 1
    assert unit.step(0.3, 0.4 - 0.3) == (True, False, False, 0.4)
    assert (unit.whole("s"), unit.real("y")) == (1, pytest.approx(1.4))
    unit.fmu.enterEventMode()
    unit.update()
    assert unit.whole("s") == 2


def test_a_discrete_input_acts_in_event_mode(make: Callable[..., Unit]) -> None:
    unit = make()
    unit.step(0.0, 0.1)
    unit.fmu.enterEventMode()
    unit.fmu.setInt32([unit.at["k"]], [3])
    assert unit.whole("c") == 0
    unit.update()
    assert unit.whole("c") == 1
    unit.fmu.enterStepMode()
    unit.step(0.1, 0.1)
    assert unit.whole("c") == 1


def test_a_jump_of_a_real_input_returns_before_anything_happens(
    make: Callable[..., Unit],
) -> None:
    unit = make()
    unit.step(0.0, 0.1)
    unit.fmu.setFloat64([unit.at["u"]], [1.0])
    assert unit.step(0.1, 0.1) == (True, False, True, 0.1)
    unit.fmu.enterEventMode()
    unit.update()
    assert unit.whole("j") == 1
    unit.fmu.enterStepMode()
    assert unit.step(0.1, 0.1) == (False, False, False, 0.2)
    assert unit.whole("j") == 1


def test_the_end_is_told(make: Callable[..., Unit]) -> None:
    unit = make(early=False)
    assert unit.step(0.0, 0.85) == (False, False, False, 0.85)
    assert unit.step(0.85, 0.1) == (False, True, False, 0.9)
    assert any("all is said" in message for message in unit.messages)
    early = make()
    for _ in range(4):
        event, _, _, last = early.step(early.real("time"), 0.95)
        assert event
        early.fmu.enterEventMode()
        terminate = early.update()[1]
        if terminate:
            break
        early.fmu.enterStepMode()
    assert terminate
    assert last == 0.9


@pytest.mark.parametrize("call", ["updateDiscreteStates", "enterStepMode"])
def test_functions_of_event_mode_are_refused_in_step_mode(
    make: Callable[..., Unit], call: str
) -> None:
    unit = make()
    with pytest.raises(FMICallException):
        getattr(unit.fmu, call)()


def test_fmi2_discards_the_step_in_which_the_model_ends(
    built: dict[str, Path], open_fmu: Callable[..., Any]
) -> None:
    slave = open_fmu(built["2.0"]).initialize()
    slave.step(0.85)
    done = slave.fmu.dll.fmi2DoStep
    done.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_double, ctypes.c_int]
    done.restype = ctypes.c_int
    assert done(slave.fmu.component, 0.85, 0.1, 1) == 2  # fmi2Discard
    at_end = ctypes.c_double()
    ended = ctypes.c_int()
    assert slave.fmu.fmi2GetRealStatus(slave.fmu.component, 2, ctypes.byref(at_end)) == 0
    assert slave.fmu.fmi2GetBooleanStatus(slave.fmu.component, 3, ctypes.byref(ended)) == 0
    assert (at_end.value, ended.value) == (0.9, 1)
    assert slave.get("y") == [pytest.approx(1.9)]


def test_model_exchange_tells_indicators_and_next_times(
    built: dict[str, Path], tmp_path: Path
) -> None:
    description = read_model_description(str(built["2.0"]))
    assert description.numberOfEventIndicators == 2  # x >= 0.25, u > 0.5; the others are foreseen
    at = {v.name: v.valueReference for v in description.modelVariables}
    model = FMU2Model(
        guid=description.guid,
        unzipDirectory=extract(str(built["2.0"]), str(tmp_path)),
        modelIdentifier=description.modelExchange.modelIdentifier,
        instanceName="unit",
    )
    model.instantiate()
    model.setupExperiment(startTime=0.0)
    model.enterInitializationMode()
    model.exitInitializationMode()
    assert tuple(model.newDiscreteStates()) == (0, 0, 0, 0, 1, 0.4)
    model.enterContinuousTimeMode()
    signs = _signs(model)
    model.setTime(0.26)
    model.setContinuousStates((ctypes.c_double * 1)(0.26), 1)
    assert tuple(model.completedIntegratorStep()) == (0, 0)
    assert [a * b < 0 for a, b in zip(signs, _signs(model), strict=True)] == [True, False]
    model.enterEventMode()
    assert tuple(model.newDiscreteStates()) == (0, 0, 0, 0, 1, 0.4)
    assert model.getInteger([at["n"]]) == [1]
    model.enterContinuousTimeMode()
    model.setTime(0.9)
    model.enterEventMode()
    assert model.newDiscreteStates()[1]
    model.freeInstance()


def _signs(model: Any) -> list[float]:
    room = (ctypes.c_double * 2)()
    model.getEventIndicators(room, 2)
    return [1.0 if value > 0 else -1.0 for value in room]
