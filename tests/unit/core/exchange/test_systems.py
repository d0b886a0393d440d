"""Model Exchange units in systems, chosen by options, beside Co-Simulation, and against FMPy."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import fmpy
import numpy as np
import pytest

from orchestrator import System, block, fmu, read_experiment, simulate, start
from orchestrator.core.diagnostics import CapabilityError, DescriptionError, LoadError, StepError
from orchestrator.core.system import Causality
from orchestrator.export import build_recipe
from orchestrator.study.prepare.prepare import prepare

ROOT = Path(__file__).parents[4]
SOLVERS = ("dopri5", "cvode")


@pytest.fixture(scope="module")
def ball(tmp_path_factory):
    """Build the bouncing ball, FMI 2.0 and 3.0."""
    built = build_recipe(
        ROOT / "fmus" / "BouncingBall.toml", tmp_path_factory.mktemp("ball"), fmi=("2.0", "3.0")
    )
    return dict(built.files)


def _height(time):
    """Closed form: the ball of the recipe, which falls from 1 m."""
    g, restitution, begin = 9.81, 0.7, math.sqrt(2 / 9.81)
    speed = restitution * g * begin
    if time < begin:
        return 1 - g * time**2 / 2
    while time > begin + 2 * speed / g:
        begin += 2 * speed / g
        speed *= restitution
    return speed * (time - begin) - g * (time - begin) ** 2 / 2


@pytest.mark.parametrize("version", ["2.0", "3.0"])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("step", ["1 ms", "100 ms"])
def test_every_height_of_a_bouncing_ball_is_that_of_the_closed_form(ball, version, solver, step):
    system = System("drop").add("ball", fmu(ball[version]))
    system = system.with_options("ball", interface="me", solver=solver, tolerance=1e-10)
    result = simulate(system, step=step, stop="2.2 s")
    exact = [_height(time) for time in result.time]
    # 7 impacts; an impact time that is off by 1e-9 s would show as 4e-9 m.
    assert result["ball.height"] == pytest.approx(exact, abs=1e-9)


def test_both_interfaces_of_one_fmu_agree(ball):
    system = System("drop").add("ball", fmu(ball["2.0"]))
    one = simulate(system, step="10 ms", stop="3 s")
    other = simulate(
        system.with_options("ball", interface="me", tolerance=1e-10), step="10 ms", stop="3 s"
    )
    assert other["ball.height"] == pytest.approx(one["ball.height"], abs=1e-12)
    assert other["ball.resting"].tolist() == one["ball.resting"].tolist()


def test_fmpy_with_its_cvode_agrees(exchange):
    path = exchange("oscillator")
    theirs = fmpy.simulate_fmu(
        str(path),
        stop_time=5.0,
        output_interval=0.1,
        relative_tolerance=1e-9,
        fmi_type="ModelExchange",
        output=["y"],
    )
    for solver in SOLVERS:
        system = (
            System("s").add("o", fmu(path), u=0.0).with_options("o", solver=solver, tolerance=1e-10)
        )
        ours = simulate(system, step="100 ms", stop="5 s")
        # FMPy's absolute tolerance is that of the nominal value, 100 times ours.
        assert ours["o.y"] == pytest.approx(theirs["y"], abs=1e-6)


def test_two_model_exchange_units_beside_a_co_simulation_unit(exchange, probe):
    system = (
        System("chain")
        .add("first", fmu(exchange("decay")), p=2.0, u=0.0)
        .add("gain", fmu(probe), gain=3.0, n=0, flag=False)
        .add("last", fmu(exchange("decay")), p=5.0)
        .connect("first.y", "gain.u")
        .connect("gain.g", "last.u")
        .with_options("first", tolerance=1e-11)
        .with_options("last", tolerance=1e-11)
    )
    result = simulate(system, step="50 ms", stop="1 s", algorithm="gauss-seidel", delay="mean")
    first = np.exp(-2.0 * result.time)
    assert result["first.y"] == pytest.approx(first, abs=1e-9)
    last = 1.0
    for number, (_, now) in enumerate(pairwise(first), 1):
        last = 3.0 * now + (last - 3.0 * now) * math.exp(-0.25)
        assert result["last.y"][number] == pytest.approx(last, abs=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_checkpoint_goes_on_and_is_held_to_the_options(exchange, solver, wording):
    system = System("s").add("a", fmu(exchange("lines")), u=0.0).with_options("a", solver=solver)
    with start(system, step="10 ms") as run:
        run.step(30)
        stored = run.save().stored()
        run.step(40)
        expected = run.recording().values
    with start(system, step="10 ms") as other:
        other.restore(stored)
        other.step(40)
        np.testing.assert_array_equal(other.recording().values, expected)
    finer = system.with_options("a", tolerance=1e-9)
    with start(finer, step="10 ms") as third, wording.raises(LoadError):
        third.restore(stored)


def test_a_failure_names_component_time_and_indicator(exchange, wording):
    system = System("s").add("relay", fmu(exchange("relay")), u=0.0)
    with wording.raises(StepError) as caught:
        simulate(system, step="100 ms", stop="1 s")
    assert "event indicator number 0" in str(caught.value)


def test_options_that_do_not_fit_are_refused(exchange, probe):
    wrong = {
        "the interface": (fmu(probe), {"interface": "me"}, "no interface 'me'; it has: cs"),
        "the other": (fmu(exchange("decay")), {"interface": "cs"}, "it has: me"),
        "a solver": (fmu(probe), {"solver": "cvode"}, "takes no solver = 'cvode'"),
        "a block": (block("spring_dashpot"), {"tolerance": 1e-3}, "takes no tolerance = 0.001"),
    }
    for component, options, message in wrong.values():
        held = {c.name: c.start or 0.0 for c in component.of(Causality.INPUT)}
        held |= {"flag": False, "n": 0} if "flag" in held else {}
        system = System("s").add("a", component, **held).with_options("a", **options)
        with pytest.raises(CapabilityError, match=rf"component 'a'.*{message}"):
            start(system, step="1 ms")


def test_an_experiment_chooses_options(tmp_path, exchange, ball, wording):
    from orchestrator import write_ssd

    write_ssd(System("drop").add("ball", fmu(ball["2.0"])), tmp_path / "drop.ssd")
    text = """title = "t"
[case.a]
system = "drop.ssd"
[case.a.unit.ball]
interface = "me"
tolerance = 1e-8
"""
    (tmp_path / "e.toml").write_text(text)
    case = read_experiment(tmp_path / "e.toml").case["a"]
    options = prepare("a", case, tmp_path, {}, {}).component("ball").options
    assert (options.interface, options.solver, options.tolerance) == ("me", None, 1e-8)
    (tmp_path / "e.toml").write_text(text.replace('"me"', '"both"'))
    case = read_experiment(tmp_path / "e.toml").case["a"]
    with wording.raises(DescriptionError):
        prepare("a", case, tmp_path, {}, {})
