"""What a prompt shows of values: with units, and at most a screen."""

import numpy as np

from orchestrator import ContactLoop, System, block, example_fmu, fmu, judge, simulate, start
from orchestrator.loops import linear_system
from orchestrator.study.measure import fit_growth


def _expect_shown(value, *words):
    text = repr(value)
    assert len(text.splitlines()) <= 25
    assert max(map(len, text.splitlines())) <= 2000
    for word in words:
        assert word in text, text


def test_values_show_names_and_units():
    time = np.linspace(0.0, 20.0, 2001)
    fit = fit_growth(time, np.exp(-0.1 * time) * np.cos(2.0 * time))
    _expect_shown(fit, "growth -0.1 1/s", "Hz")
    loop = ContactLoop(mass=750.0, stiffness=2510.0, damping=60.0, delay=0.016)
    _expect_shown(loop.delay_margin, "23.8891 ms", "7.88915 ms left", "rad/s")


def test_a_component_a_connector_and_a_connection():
    system = System("s").add("spring", block("spring_dashpot"), k=2.0, d=0.5)
    component = system.component("spring")
    _expect_shown(component, "Component 'spring'", "inputs: ", "k [N/m] = 2.0")
    _expect_shown(component.connectors["k"], "Connector 'k', parameter Real in N/m")
    pair = system.add("other", block("spring_dashpot"), k=1.0, d=0.0)
    pair = pair.connect("spring.energy", "other.position_a", delay="16 ms")
    _expect_shown(pair.connections[0], "Connection spring.energy -> other.position_a (16 ms)")


def test_an_execution_its_checkpoint_and_a_verdict():
    inputs = {"position_a": 0.01, "position_b": 0.0, "velocity_a": 0.0, "velocity_b": 0.0}
    system = System("s").add("spring", block("spring_dashpot"), k=2.0, d=0.5, **inputs)
    with start(system, step="1 ms") as execution:
        execution.step(4)
        _expect_shown(execution, "Execution of 's': 1 component, gauss-seidel, step 1 ms, at 0.004")
        _expect_shown(execution.save(), "Checkpoint at 0.004 s of 1 component")
    result = simulate(system, step="1 ms", stop="2 ms")
    _expect_shown(judge(result, "spring.energy < 1 J"), "passed", "expected spring.energy < 1 J")


def test_margins_have_units():
    system = (
        System("capture")
        .add("chaser", fmu(example_fmu("Chaser")), m=750.0, thrust=0.0, virtual_force=0.0)
        .add("sheet", fmu(example_fmu("Compliance")), k=2510.0, latched=True)
        .set("sheet.velocity_a", 0.0)
        .set("sheet.position_b", 0.0)
        .set("sheet.velocity_b", 0.0)
        .connect("chaser.position", "sheet.position_a", delay="16 ms")
        .connect("sheet.force_a", "chaser.force")
    )
    margins = linear_system(system, step="4 ms").margins("sheet.force_a -> chaser.force")
    _expect_shown(margins, "closed loop unstable", "deg", "ms", "Hz", "delay margin    -16 ms")
