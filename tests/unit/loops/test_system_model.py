"""The model of a whole system: against python-control, closed forms, and runs."""

import control
import numpy as np
import pytest
import scipy.signal

from orchestrator import Execution, System, block
from orchestrator.core.diagnostics import DescriptionError, UnknownNameError
from orchestrator.loops import linear_system, linearise

from .conftest import Factor, SecondOrder

A = (0.0, 1.0, -9.0, -0.6)


def loop(delay):
    """A mass with a gain around it, and a filter that is driven from outside."""
    return (
        System("loop")
        .add("mass", block(SecondOrder), a=A, b=(0.0, 2.0), c=(1.0, 0.1))
        .add("gain", block(Factor), k=-1.5)
        .add("filter", block(SecondOrder), a=(0.0, 1.0, -4.0, -4.0), b=(0.0, 4.0), c=(1.0, 0.0))
        .add("source", block(Factor), u=0.0, k=3.0)
        .connect("mass.y", "gain.u", delay=delay)
        .connect("gain.y", "mass.u")
        .connect("source.y", "filter.u")
    )


FREQUENCY = np.logspace(-2, 2, 41)
S = 2j * np.pi * FREQUENCY


def plant():
    return (2.0 + 0.2 * S) / (S * S + 0.6 * S + 9.0)


def test_without_delays_it_is_what_python_control_and_scipy_take():
    model = linearise(
        loop(None), inputs=["mass.u"], outputs=["mass.y"], step="1 ms", algorithm="newton"
    )
    exact = plant() / (1.0 + 1.5 * plant())
    taken = control.ss(model.a, model.b, model.c, model.d)
    assert taken(S) == pytest.approx(exact, rel=1e-9)
    assert model.response(FREQUENCY)[0, 0] == pytest.approx(taken(S), rel=1e-9)
    other = scipy.signal.StateSpace(model.a, model.b, model.c, model.d)
    assert np.sort_complex(np.linalg.eigvals(other.A)) == pytest.approx(
        np.sort_complex(taken.poles())
    )
    assert not model.delays
    assert model.inputs == ("mass.u",)


def test_exact_delays_are_in_the_response_and_in_the_modes():
    model = linearise(loop("40 ms"), inputs=["mass.u"], outputs=["mass.y"], step="1 ms")
    exact = plant() / (1.0 + 1.5 * np.exp(-0.04 * S) * plant())
    assert model.response(FREQUENCY)[0, 0] == pytest.approx(exact, rel=1e-9)
    assert list(model.delays) == [0.04]
    (account,) = linear_system(loop("40 ms"), step="1 ms").loop_accounts()
    assert model.modes(3)[0] == pytest.approx(account.modes[0].exact, rel=1e-9)


@pytest.mark.parametrize("order", [1, 3, 8])
def test_pade_is_that_of_python_control(order):
    options = {"delays": "pade", "order": order, "step": "1 ms"}
    model = linearise(loop("40 ms"), inputs=["mass.u"], outputs=["mass.y"], **options)
    assert not model.delays
    late = control.tf(*control.pade(0.04, order))
    exact = plant() / (1.0 + 1.5 * late(S) * plant())
    assert control.ss(model.a, model.b, model.c, model.d)(S) == pytest.approx(exact, rel=1e-8)


def test_all_free_inputs_and_all_outputs_unless_some_are_named():
    model = linearise(loop("40 ms"), step="1 ms")
    assert model.inputs[: model.requested[0]] == ("source.u",)
    assert model.outputs[: model.requested[1]] == ("mass.y", "gain.y", "filter.y", "source.y")
    found = model.response(FREQUENCY)
    assert found.shape == (4, 1, 41)
    assert found[2, 0] == pytest.approx(12.0 / (S * S + 4.0 * S + 4.0), rel=1e-9)
    assert np.abs(found[0]).max() == 0.0


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel"])
def test_a_sampled_model_steps_as_the_master_does(algorithm):
    options = {"step": "50 ms", "algorithm": algorithm, "rates": {"filter": 2}}
    model = linearise(loop("40 ms"), delays="sampled", **options)
    assert model.inputs == ("source.u",)
    assert model.period == pytest.approx(0.1)
    drive = np.random.default_rng(1).normal(size=30)
    taken = control.ss(model.a, model.b, model.c, model.d, model.period)
    place = model.outputs.index("filter.y")
    with Execution(loop("40 ms"), record=(), **options) as run:
        run.step(20)
        measured = []
        for value in drive:
            run.set("source.u", float(value))
            run.step(2)
            measured.append(run.get("filter.y"))
    predicted = control.forced_response(taken, inputs=np.append(drive, 0.0)).outputs
    assert np.reshape(predicted, (len(model.outputs), -1))[place, 1:] == pytest.approx(
        measured, abs=1e-8
    )
    (account,) = linear_system(loop("40 ms"), **options).loop_accounts()
    near = min(model.modes(40), key=lambda root: abs(root - account.modes[0].sampled))
    assert near == pytest.approx(account.modes[0].sampled, rel=1e-6)


def test_names_that_are_not_there_and_inputs_that_are_taken(wording):
    with wording.raises(UnknownNameError):
        linearise(loop("40 ms"), inputs=["mass.v"], step="1 ms")
    with wording.raises(UnknownNameError):
        linearise(loop("40 ms"), outputs=["mass.u"], step="1 ms")
    with wording.raises(DescriptionError):
        linearise(loop("40 ms"), inputs=["mass.u"], delays="sampled", step="1 ms")


def test_margins_of_a_linear_system_are_those_of_its_open_loop():
    linear = linear_system(loop("40 ms"), step="1 ms")
    found = linear.margins("gain.u")
    response = 1.5 * np.exp(-0.04j * (w := 2 * np.pi * found.phase.frequency))
    response *= (2.0 + 0.2j * w) / (-w * w + 0.6j * w + 9.0)
    assert abs(response) == pytest.approx(1.0, rel=1e-9)
    assert np.angle(-response) % (2 * np.pi) == pytest.approx(found.phase.value, rel=1e-9)
