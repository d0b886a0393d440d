"""What is said of loops: figures that can be worked out by hand."""

from dataclasses import replace

import pytest
from diagnostic_cases.case import ring
from diagnostic_cases.rigs import rig

from orchestrator.checks import check_target
from orchestrator.checks.context import IntendedRun
from orchestrator.checks.run_checks import check_case, check_declaration
from orchestrator.core.coupling import DelayMode

pytestmark = pytest.mark.usefixtures("sample_blocks")
MS = 1_000_000


def told(system, code, **how):
    subject, _ = check_declaration(system)
    run = IntendedRun(step_ns=MS, stop_ns=10 * MS, **how)
    found, _ = check_case(replace(subject, run=run), is_sound_system=True)
    return [finding.message for finding in found if finding.code == code]


@pytest.mark.parametrize(
    ("algorithm", "adds"),
    # Two held inputs, H/2 each, and H/2 of the gain's feed-through; Gauss-Seidel gets one of the
    # inputs from the end of the step, which takes H off.
    [("jacobi", "+1.5"), ("gauss-seidel", "+0.5")],
)
def test_the_delay_of_a_loop(algorithm, adds):
    closed = ring("strict_lag", "gain")
    (text,) = told(closed, "LOO101", algorithm=algorithm, mode=DelayMode.PLAIN)
    assert text == (
        f"loop a -> b -> a: declared 0 ms, the step adds {adds} ms, in total {adds[1:]} ms"
        f" ({algorithm}, plain, step 1 ms)"
    )


def test_what_a_device_brings_to_its_loop_is_not_told_as_nothing(tmp_path):
    """Nothing is declared beside the device: it is not a loop of 0 ms, as arming knows."""
    kuka = 'devices.robot = { device = "kuka_rsi", axes = ["x"], measured = "displacement" }\n'
    case = f'[case.c]\nsystem = "rig.toml"\n{kuka}delays = {{ "robot.x -> spring.x" = "0 ms" }}'
    found = check_target(rig(case)(tmp_path, tmp_path)).findings
    (text,) = (each.message for each in found if each.code == "LOO101")
    assert "in total 0 ms" in text
    assert text.endswith(", besides the delay of device robot, which arming counts")


def test_a_loop_that_is_missed_says_by_how_much():
    (text,) = told(ring("strict_lag", "gain"), "LOO104")
    assert "misses its declared delay of 0 ms by +0.5 ms: none of its connections" in text
    assert told(ring("strict_lag", "gain"), "LOO104", mode=DelayMode.PLAIN) == []


def test_an_algebraic_loop_says_who_would_solve_it_and_how():
    (text,) = told(ring("gain", "gain"), "LOO102")
    assert text.startswith("algebraic loop without a delay: a.u -> a.y -> b.u -> b.y -> a.u;")
    assert text.endswith("(they would iterate in the order a -> b, cut at b.y -> a.u)")


def test_an_algebraic_loop_that_is_solved_says_how():
    (text,) = told(ring("gain", "gain"), "LOO103", algorithm="newton")
    assert text == ("'newton' iterates it (newton) in the order a -> b, cut at b.y -> a.u")
