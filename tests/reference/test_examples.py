"""Every Modelica example against its stored reference, over its whole time span."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmpy import read_model_description, simulate_fmu

from orchestrator.export import build_model

MODELICA = Path(__file__).parents[2] / "modelica"
REFERENCES = runpy.run_path(str(Path(__file__).with_name("references.py")))
EXAMPLES = tuple(REFERENCES["REFERENCES"])

# Largest error, relative to the largest value of the column. The FMUs integrate with a relative
# tolerance of 1e-9 of each step; measured errors are below a tenth of these bounds, unless a line
# says otherwise.
CLOSE = {
    "AxisStep": 1e-8,
    # The change of contact is found by no event (noEvent): the step in which it lies is less exact.
    "TwoBodyImpact": 1e-5,
    "ArmSwing": 1e-7,
    "TumblingBody": 1e-7,
    "RopeSnap": 1e-7,
    "LegStep": 1e-8,
    "MotorStick": 1e-8,
    "DockingSwing": 1e-8,
    "BallDrop": 1e-9,  # free flight is a polynomial, so only the times of the impacts have errors
    # The velocity, just after one of many contacts of 10 ms: 1.3e-7.
    "BallOnSpring": 1e-6,
}
WITH_EVENTS = {"MotorStick", "BallDrop", "BallOnSpring"}


def run(example: str, folder: Path, names: list[str]) -> Any:
    fmu = str(build_model(f"SpaceDocking.Examples.{example}", MODELICA, folder).path)
    times = REFERENCES["stored"](example)["time"]
    proposed = read_model_description(fmu).defaultExperiment
    assert float(proposed.stopTime) == times[-1]
    assert float(proposed.tolerance) == 1e-9
    result = simulate_fmu(
        fmu, stop_time=times[-1], output_interval=times[1], fmi_type="CoSimulation", output=names
    )
    np.testing.assert_allclose(result["time"], times, atol=1e-9)
    return result


def test_every_example_has_a_reference() -> None:
    order = (MODELICA / "SpaceDocking/Examples/package.order").read_text().split()
    assert set(order) == set(EXAMPLES) == set(CLOSE)


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES)
def test_stored_reference_is_what_the_script_gives(example: str) -> None:
    made, stored = REFERENCES["reference"](example), REFERENCES["stored"](example)
    assert list(made) == list(stored)
    for name, values in made.items():
        # Twelve digits are stored; integrations differ by their tolerance between machines.
        np.testing.assert_allclose(stored[name], values, rtol=1e-8, atol=1e-9, err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES)
def test_example_agrees_with_its_reference(example: str, tmp_path: Path) -> None:
    reference = REFERENCES["stored"](example)
    names = [name for name in reference if name != "time"]
    result = run(example, tmp_path, names)
    for name in names:
        size = np.abs(reference[name]).max()
        np.testing.assert_allclose(
            result[name], reference[name], rtol=0, atol=CLOSE[example] * size, err_msg=name
        )


@pytest.mark.parametrize("example", sorted(WITH_EVENTS))
def test_model_with_events_agrees_in_another_simulator(example: str) -> None:
    """The Modelica text is right whether or not the exporter can build it: rumoca simulates it."""
    import rumoca

    reference = REFERENCES["stored"](example)
    times = reference["time"]
    place = MODELICA / f"SpaceDocking/Examples/{example}.mo"
    session = rumoca.Session(roots=[str(MODELICA)])
    model = session.load(str(place), model=f"SpaceDocking.Examples.{example}")
    config = rumoca.SimConfig(rtol=1e-9, atol=1e-11, dt=times[1])
    result = model.simulate((0.0, times[-1]), config=config)
    for name in reference.keys() - {"time"}:
        seen = np.interp(times, result.time, result[name])
        # Measured: 4e-6, of the velocity of the ball on the spring.
        atol = 3e-5 * np.abs(reference[name]).max()
        np.testing.assert_allclose(seen, reference[name], rtol=0, atol=atol, err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("example", "name", "bound"),
    [
        ("ArmSwing", "arm.energy", 1e-7),
        ("TumblingBody", "body.energy", 1e-7),
        ("TumblingBody", "body.momentum[1]", 1e-7),
        ("TumblingBody", "body.momentum[2]", 1e-7),
        ("TumblingBody", "body.momentum[3]", 1e-7),
        # Measured drift 5e-8 in 0.5 s: stability keeps the steps at their limit.
        ("RopeSnap", "rope.energy", 2e-7),
    ],
)
def test_what_is_conserved(example: str, name: str, bound: float, tmp_path: Path) -> None:
    result = run(example, tmp_path, [name])[name]
    np.testing.assert_allclose(result, result[0], rtol=bound)


def test_momentum_and_energy_of_the_impact(tmp_path: Path) -> None:
    names = ["chaser.velocity", "target.velocity", "contact.compression"]
    result = run("TwoBodyImpact", tmp_path, names)
    chaser, target = result["chaser.velocity"], result["target.velocity"]
    np.testing.assert_allclose(750 * chaser + 1e6 * target, 750 * 0.03, rtol=1e-12)
    compression = np.maximum(result["contact.compression"], 0)
    energy = 0.5 * (750 * chaser**2 + 1e6 * target**2 + 1000 * compression**2)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-6)


def test_leg_holds_its_load(tmp_path: Path) -> None:
    result = run("LegStep", tmp_path, ["leg.length", "leg.current"])
    # After 0.5 s, ten time constants of the load, 5e-5 of it is still to come.
    assert result["leg.length"][-1] == pytest.approx(1.801, abs=1e-6)
    assert result["leg.current"][-1] == pytest.approx(500 * 0.01 / (2 * np.pi * 0.5), rel=1e-2)
