"""Measures of a result that is known in closed form."""

import numpy as np
import pytest

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.recording import Result
from orchestrator.core.simunits import Block, Output, Parameter, block
from orchestrator.core.system import System
from orchestrator.study.experiment import Measure
from orchestrator.study.measure.measures import evaluate

TIME_NS = np.arange(0, 1001) * 1_000_000
TIME = TIME_NS / 1e9


class Spring(Block):
    """Holds what measures are compared with."""

    k: float = Parameter(start=50.0, unit="N/m")
    stiff: np.ndarray = Parameter(shape=(2,), start=(10.0, 20.0), unit="N/m")
    latched: bool = Parameter(start=True)
    y: float = Output(depends_on=())

    def step(self, t: float, h: float) -> None:
        """Do nothing."""


@pytest.fixture
def system(register):
    register(spring=Spring)
    return System("s").add("spring", block("spring"), k=50.0, stiff=(10.0, 20.0), latched=True)


def result(name="a", step=1, **signals):
    """Signals ``x`` as ``x.y``; a vector as its elements."""
    names = tuple(key.replace("__", ".") for key in signals)
    values = np.column_stack([np.broadcast_to(s, TIME.shape)[::step] for s in signals.values()])
    return Result(name, TIME_NS[::step], names, values, {names[0]: "m"})


def measured(system, others=(), signals=None, **table):
    found = result(**(signals or {"x__y": np.sin(2 * np.pi * TIME)}))
    measure = Measure.model_validate({"signal": "x.y", **table})
    return evaluate(measure, found, system, {other.name: other for other in others})


def test_rms_and_median_of_a_window(system):
    # A whole period of a sine, with both ends: 1000 of 1001 samples count.
    assert measured(system, kind="rms").value == pytest.approx(np.sqrt(500 / 1001), rel=1e-12)
    assert measured(system, kind="rms").unit == "m"
    line = {"x__y": TIME}
    assert measured(system, signals=line, kind="median", **{"from": 0.4}).value == 0.7
    assert measured(system, signals=line, kind="median", factor=-2, until="0.2 s").value == -0.2


def test_a_factor_makes_another_unit(system):
    assert measured(system, kind="peak", factor=-1).unit == "m"
    millimetres = measured(system, kind="peak", factor=1e3, unit="mm")
    assert (millimetres.value, millimetres.unit) == (pytest.approx(1e3), "mm")
    assert measured(system, kind="peak", factor=1e3).unit == ""
    assert measured(system, kind="peak", factor=1e3, unit="mm", percent_of=50.0).unit == "%"


def test_share_of_a_figure_and_absolute_value(system):
    low = measured(system, kind="peak", factor=-1, percent_of=0.5, absolute=True, until="0.3 s")
    assert low.value == pytest.approx(200.0)
    assert low.unit == "%"
    assert low.details == {"time_s": 0.25}


@pytest.mark.parametrize("target", [20.0, "spring.stiff[1]", "true.y"])
def test_deviation_from_a_number_a_parameter_or_a_signal(system, target):
    signals = {"x__y": 21.0 + TIME, "true__y": np.full_like(TIME, 20.0)}
    found = measured(system, signals=signals, kind="final", target=target)
    assert found.value == pytest.approx(10.0)
    assert found.unit == "%"


def test_settling_is_the_first_sample_after_the_last_one_outside(system, wording):
    """exp(-5 t) is within 2 % of nothing from ln(50) / 5 = 0.7824 s on."""
    signals = {"x__y": 50.0 * (1.0 + np.exp(-5.0 * TIME))}
    found = measured(system, signals=signals, kind="settling", target="spring.k", within=2)
    assert found.value == 0.783
    assert found.unit == "s"
    inside = measured(system, signals=signals, kind="settling", target="spring.k", within=101)
    assert inside.value == 0.0
    with wording.raises(DescriptionError):
        measured(system, signals=signals, kind="settling", target="spring.k", within=0.1)


def test_no_number_is_not_settled(system):
    signals = {"x__y": np.where(TIME < 0.5, np.nan, 50.0)}
    found = measured(system, signals=signals, kind="settling", target="spring.k", within=2)
    assert found.value == 0.5


def test_differences_to_another_case(system):
    other = result("b", z__y=np.sin(2 * np.pi * TIME) + np.where(TIME < 0.5, -3e-4, 1e-4))
    to = {"to": "b", "to_signal": "z.y", "percent_of": 0.01}
    assert measured(system, [other], kind="difference", **to).value == pytest.approx(3.0)
    found = measured(system, [other], kind="rms_difference", **to)
    assert found.value == pytest.approx(np.sqrt((500 * 9 + 501) / 1001))
    late = measured(system, [other], kind="difference", **to, **{"from": 0.5})
    assert late.value == pytest.approx(1.0)


def test_angles_of_a_quaternion_in_degrees(system):
    turn = np.radians(30.0) * TIME
    q = {"b__q[0]": np.cos(turn / 2), "b__q[1]": 0.0, "b__q[2]": np.sin(turn / 2), "b__q[3]": 0.0}
    found = measured(system, signals=q, kind="final", signal="b.q", angle="y")
    assert found.value == pytest.approx(30.0)
    assert found.unit == "deg"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"kind": "settling"}, "together with kind 'settling'"),
        ({"kind": "peak", "within": 2}, "together with kind 'settling'"),
        ({"kind": "peak", "target": 0}, "other than 0"),
        ({"kind": "peak", "target": 1, "percent_of": 1}, "found both"),
        ({"kind": "peak", "factor": -1, "unit": "N"}, "with a 'factor' other than 1 and -1"),
    ],
)
def test_keys_that_do_not_go_together(table, message):
    with pytest.raises(ValueError, match=message):
        Measure.model_validate({"signal": "x.y", **table})


@pytest.mark.parametrize(
    "target",
    [
        "spring.stiff[2]",
        "spring.latched",
        "spring.weight",
        "zero.y",
    ],
)
def test_a_target_that_is_none(system, target, wording):
    signals = {"x__y": TIME, "zero__y": 0.0}
    with wording.raises(DescriptionError):
        measured(system, signals=signals, kind="peak", target=target)


def test_a_difference_needs_equal_times(system, wording):
    other = result("b", step=2, x__y=TIME)
    with wording.raises(DescriptionError):
        measured(system, [other], kind="rms_difference", to="b")


def test_a_growth_that_explains_too_little_is_not_told(system, wording):
    grows = np.exp(2.0 * TIME) * np.sin(2 * np.pi * 8 * TIME)
    fit = measured(system, signals={"x__y": grows}, kind="growth")
    assert fit.value == pytest.approx(2.0, rel=1e-9)
    assert fit.details["residual_share"] < 1e-9
    other = 3.0 * np.sin(2 * np.pi * 21 * TIME)
    with wording.raises(DescriptionError):
        measured(system, signals={"x__y": grows + other}, kind="growth")
