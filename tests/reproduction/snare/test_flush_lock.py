"""The latches of the snare's lock, by a target that is put where it is."""

from pathlib import Path

import numpy as np
import pytest

from orchestrator import Execution, System, fmu

FMUS = Path(__file__).parents[3] / "fmus" / "build"
BASE = (0.040931, -0.00137, -0.342138)  # m, middle of the pads in the frame of the target
NEAR = 0.0005  # m, from pads to face
SPRINGS = 3 * 0.5 * 1e4  # N/m, half of all pads


def lock(aside):
    """Return a lock in the world whose target is ``aside`` of the axis, m, and at rest."""
    values = {
        **dict.fromkeys(("frame_r", "frame_v", "frame_omega", "velocity", "omega"), np.zeros(3)),
        **dict.fromkeys(("frame_q", "q"), (1.0, 0.0, 0.0, 0.0)),
        "position": np.array([aside, 0.0, 0.03 + NEAR]) - BASE,
    }
    elements = {f"{name}[{i}]": x for name, row in values.items() for i, x in enumerate(row, 1)}
    return System("lock").add("lock", fmu(FMUS / "FlushLock.fmu"), **elements)


@pytest.mark.parametrize("begin", [0.0, 0.02])
def test_latches_keep_the_pads_where_they_took_hold(shipped_fmus, begin):
    """Also if it is flush at the start, or drawn out of what counts as flush and back."""
    taken = SPRINGS * NEAR**2  # what the springs across the face hold
    with Execution(lock(begin), step="1 ms") as run:
        run.step(2)
        assert run.get("lock.locked") == (begin == 0.0)
        for place in (0.0, 0.02, 0.012):
            run.set("lock.position[1]", place - BASE[0])
            run.step(2)
            assert run.get("lock.locked") == 1
            assert run.get("lock.energy") == pytest.approx(SPRINGS * place**2 + taken, abs=1e-9)
            assert run.get("lock.latch_work") == pytest.approx(taken if begin else 0.0, abs=1e-9)
