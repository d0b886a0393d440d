"""Body on an air table: slides, stops, sticks and breaks away, against closed forms."""

import pytest

from orchestrator import System, fmu, simulate


def run(plants, stop, **values):
    system = System("table").add(
        "body", fmu(plants / "AirBearing.fmu"), force=0.0, virtual_force=0.0, **values
    )
    return simulate(system, step="10 ms", stop=stop)


def test_it_slides_stops_and_stays(plants):
    found = run(plants, "2 s", v0=-0.1, thrust=0.0)
    assert found["body.position"][-1] == pytest.approx(-(0.1**2) / (2 * 0.0905), rel=1e-10)
    assert found["body.velocity"][-1] == 0.0
    assert found["body.dissipation"][-1] == 0.0


def test_it_breaks_away_above_the_friction_only(plants):
    limit = 0.00905 * 38.4 * 10.0
    held = run(plants, "0.5 s", v0=0.0, thrust=0.999 * limit)
    assert (held["body.position"][-1], held["body.velocity"][-1]) == (0.0, 0.0)
    pushed = run(plants, "0.5 s", v0=0.0, thrust=2.0 * limit)
    assert pushed["body.velocity"][-1] == pytest.approx(0.5 * limit / 38.4, rel=1e-10)
