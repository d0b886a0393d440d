"""Margins: against python-control, closed forms, and runs at the margin."""

import math

import control
import numpy as np
import pytest

from orchestrator import System, block, simulate
from orchestrator.core.diagnostics import DescriptionError, UnknownNameError
from orchestrator.loops import linear_system, open_loop
from orchestrator.loops.contact import ContactLoop
from orchestrator.study.measure import fit_growth

from .conftest import MASS, STIFFNESS, Factor, SecondOrder, capture


def margins_of(system, line, element=1):
    linear = linear_system(system, step="1 ms")
    return open_loop(linear.system, linear.models, line, element).margins()


@pytest.mark.parametrize("line", ["contact.u", "mass.y->contact.u", "contact.y -> mass.u"])
@pytest.mark.parametrize("damping", [20.0, 60.0])
def test_the_delay_that_is_left_is_that_of_the_quasi_polynomial(line, damping):
    found = margins_of(capture(damping=damping), line)
    exact = ContactLoop(MASS, STIFFNESS, damping, 0.016).delay_margin
    assert found.is_stable is (damping == 60.0)
    assert found.delay.value == pytest.approx(exact.additional, rel=1e-9)
    assert 2 * math.pi * found.delay.frequency == pytest.approx(exact.frequency, rel=1e-9)


@pytest.mark.parametrize("k", [0.35, 0.5])
def test_margins_are_those_of_python_control(k):
    w, zeta = 2 * np.pi, 0.3
    a = (0.0, 1.0, -w * w, -2 * zeta * w)
    system = (
        System("loop")
        .add("first", block(SecondOrder), a=a, b=(0.0, w * w), c=(1.0, 0.0))
        .add("second", block(SecondOrder), a=a, b=(0.0, w * w), c=(1.0, 0.05))
        .add("gain", block(Factor), k=-k)
        .connect("first.y", "second.u")
        .connect("second.y", "gain.u")
        .connect("gain.y", "first.u")
    )
    found = margins_of(system, "first.u")
    matrix = np.array(a).reshape(2, 2)
    parts = [control.ss(matrix, [[0], [w * w]], [c], 0) for c in ([1.0, 0.0], [1.0, 0.05])]
    gain, phase, distance, w_gain, w_phase, w_distance = control.stability_margins(
        k * parts[0] * parts[1]
    )
    mine = found.gain if found.gain.frequency == found.gain.frequency else found.gain_reduction
    assert mine.value == pytest.approx(gain, rel=1e-6)
    assert 2 * np.pi * mine.frequency == pytest.approx(w_gain, rel=1e-6)
    assert math.degrees(found.phase.value) == pytest.approx(phase, rel=1e-6)
    assert 2 * np.pi * found.phase.frequency == pytest.approx(w_phase, rel=1e-6)
    assert found.distance.value == pytest.approx(distance, rel=1e-5)
    assert 2 * np.pi * found.distance.frequency == pytest.approx(w_distance, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.99, 1.01])
def test_runs_beside_the_margin_die_down_and_grow(share):
    left = margins_of(capture(), "contact.u").delay.value
    delay = round((0.016 + share * left) * 1e9) / 1e9
    run = simulate(capture(delay), step="1 ms", stop="40 s")
    growth = fit_growth(run.time, run["mass.y"], start=1.0).sigma
    assert growth > 1e-5 if share > 1.0 else growth < -1e-5


def test_bad_lines_are_named(wording):
    linear = linear_system(capture(), step="1 ms")
    with wording.raises(UnknownNameError):
        open_loop(linear.system, linear.models, "contact.w")
    with wording.raises(DescriptionError):
        open_loop(linear.system, linear.models, "contact.u", 2)
    chain = (
        System("chain")
        .add("a", block(SecondOrder), u=0.0, a=(0.0, 1.0, -1.0, -1.0), c=(1.0, 0.0))
        .add("b", block(Factor))
        .connect("a.y", "b.u")
    )
    linear = linear_system(chain, step="1 ms")
    with wording.raises(DescriptionError):
        open_loop(linear.system, linear.models, "b.u")
