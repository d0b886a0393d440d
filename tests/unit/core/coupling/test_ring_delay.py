"""The delay around rings of several rates, against what a run shows of it."""

from dataclasses import replace

import numpy as np
import pytest

from orchestrator import Block, Input, Output, System, block, simulate
from orchestrator.core.system import Variation


class Stamp(Block):
    """Sends the time, and says how late it comes back in the middle of its steps."""

    u: float = Input(unit="s")
    y: float = Output(unit="s", depends_on=())
    late: float = Output(unit="s", depends_on=("u",))

    def step(self, t, h):
        self.y, self.late = t + h, t + 0.5 * h - self.u


class Pass(Block):
    """Passes on what it is given."""

    u: float = Input(unit="s")
    y: float = Output(unit="s", depends_on=("u",))

    def step(self, t, h):
        self.y = self.u


def ring(names, delays, interpolation):
    stamp, one, two = names
    system = System("ring").add(stamp, block(Stamp)).add(one, block(Pass)).add(two, block(Pass))
    for source, target, delay in zip(names, (one, two, stamp), delays, strict=True):
        how = {"delay": delay, "interpolation": interpolation} if delay else {}
        system = system.connect(f"{source}.y", f"{target}.u", **how)
    return system


@pytest.mark.parametrize(("names", "interpolation"), [("abc", "linear"), ("cab", "hold")])
@pytest.mark.parametrize("algorithm", ["gauss-seidel", "jacobi"])
@pytest.mark.parametrize("mode", ["plain", "mean", "waveform"])
def test_a_time_stamp_comes_back_as_late_as_is_told(names, algorithm, mode, interpolation):
    """Whatever the components are called, which says where the ring begins."""
    for delays in (("7 ms", None, "11.7 ms"), (None, None, "9 ms")):
        for rates in ((2, 1, 1), (1, 3, 1), (1, 2, 3), (3, 1, 2)):
            run = simulate(
                ring(names, delays, interpolation),
                step="1 ms",
                stop="120 ms",
                algorithm=algorithm,
                delay=mode,
                rates={name: rate for name, rate in zip(names, rates, strict=True) if rate > 1},
                record=(f"{names[0]}.late",),
            )
            (told,) = run.loops
            shown = np.asarray(run[f"{names[0]}.late"])[-60:].mean()
            assert told.total_ns == pytest.approx(shown * 1e9, abs=1.0), (delays, rates)


@pytest.mark.parametrize("mode", ["plain", "mean"])
def test_a_time_stamp_on_a_line_that_varies_comes_back_as_late_as_is_told(mode):
    """Of a fifth that is lost the mean age grows by a quarter of a step, known to 0.004 ms."""
    lossy = Variation(loss=0.2)
    system = ring("abc", ("7 ms", None, None), "hold")
    lines = [
        replace(line, delay=replace(line.delay, variation=lossy)) if line.delay else line
        for line in system.connections
    ]
    run = simulate(
        replace(system, connections=tuple(lines)),
        step="1 ms",
        stop="20 s",
        algorithm="gauss-seidel",
        delay=mode,
        rates={"b": 2},
        record=("a.late",),
    )
    (told,) = run.loops
    assert told.total_ns * 1e-6 == pytest.approx(1e3 * run["a.late"][50:].mean(), abs=0.02)
