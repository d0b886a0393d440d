"""Python blocks of an exported system, which become FMUs inside."""

import numpy as np
import pytest

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.simunits import Block, Input, Output, Parameter, block, fmu
from orchestrator.core.system import System
from orchestrator.export.system import export_system
from orchestrator.study import simulate


class Spread(Block):
    """Three values of one, and their scaled sum."""

    u: float = Input()
    past: np.ndarray = Input(shape=(3,))
    y: np.ndarray = Output(shape=(3,))
    total: float = Output()
    k: float = Parameter(start=2.0)
    weights: np.ndarray = Parameter(start=(1.0, 2.0, 3.0), shape=(3,))

    def step(self, t, h):
        self.y[:] = self.u * self.weights
        self.total = self.k * (self.past[0] + self.past[1] + self.past[2])


def rig() -> System:
    return (
        System("rig")
        .add("lag one", block("lag"), x0=1.0)
        .add("spread", block("spread"), k=3.0, weights=(1.0, 0.5, 0.25))
        .connect("lag one.y", "spread.u")
        .connect("spread.y", "spread.past", delay="3.5 ms")
        .connect("spread.total", "lag one.u", delay="2 ms")
        .expose("k", "spread.k")
        .expose("total", "spread.total")
    )


@pytest.fixture(autouse=True)
def _blocks(sample_blocks, register):
    register(spread=Spread)


@pytest.mark.parametrize("version", [2, 3])
def test_a_system_of_blocks_runs_as_an_fmu(tmp_path, version):
    path = export_system(rig(), tmp_path / "rig.fmu", fmi=version, step="1 ms")
    again = export_system(rig(), tmp_path / "again.fmu", fmi=version, step="1 ms")
    assert path.read_bytes() == again.read_bytes()
    for k in (3.0, -1.5):
        here = simulate(rig().set("k", k), step="1 ms", stop="20 ms")
        outer = System("outer").add("it", fmu(path), k=k)
        there = simulate(outer, step="1 ms", stop="20 ms")
        assert there["it.total"].tolist() == here["spread.total"].tolist()
        assert np.ptp(here["spread.total"]) > 0.1


def test_a_block_that_cannot_be_an_fmu_is_named(tmp_path, register, wording):
    class Texts(Block):
        label: str = Input()
        y: str = Output()

        def step(self, t, h):
            self.y = self.label.upper()

    register(texts=Texts)
    system = rig().add("texts", block("texts"), label="a")
    with wording.raises(DescriptionError):
        export_system(system, tmp_path / "rig.fmu", step="1 ms")
    assert list(tmp_path.iterdir()) == []
