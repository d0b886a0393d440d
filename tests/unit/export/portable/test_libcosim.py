"""A portable .ssp in libcosim: it exchanges before its first step, and ignores units."""

import zipfile
from pathlib import Path

import numpy as np
import pytest
from fmpy import read_model_description

from orchestrator import Block, Input, Output, State, System, block, read_experiment, simulate
from orchestrator.export.portable import write_portable_ssp
from orchestrator.study.prepare.prepare import prepare

pytest.importorskip(
    "libcosimpy", reason="libcosimpy has no wheel for this platform", exc_type=ImportError
)

EPOS = Path(__file__).parents[4] / "examples" / "epos"
STEP_NS = 1_000_000
COUNT = 1500


class Ramp(Block):
    """Begins with something else than zero."""

    y: float = Output(unit="m")
    count: float = State(start=300.0)

    def step(self, t: float, h: float) -> None:
        self.count = self.count + 1.0 * (h > 0.0)
        self.y = 0.01 * self.count * self.count


class Follower(Block):
    """Answers what comes in, and remembers it."""

    x: float = Input(unit="m")
    bias: float = Input(unit="m", start=0.5)
    y: float = Output(unit="m")
    sum: float = State(start=0.0)

    def step(self, t: float, h: float) -> None:
        self.sum = self.sum + h * self.x
        self.y = 0.9 * self.x + self.bias - self.sum


def in_libcosim(path, names):
    """Outputs after every step, by name."""
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimObserver import CosimObserver

    references = {}
    with zipfile.ZipFile(path) as archive:
        for name in {name.partition(".")[0] for name in names}:
            stored = next(n for n in archive.namelist() if Path(n).stem.lower() == name.lower())
            with archive.open(stored) as file:
                described = read_model_description(file)
            references |= {f"{name}.{v.name}": v.valueReference for v in described.modelVariables}
    execution = CosimExecution.from_ssp_file(ssp_path=str(path), step_size=STEP_NS)
    observer = CosimObserver.create_last_value()
    assert execution.add_observer(observer=observer)
    index = {slave.name.decode(): slave.index for slave in execution.slave_infos()}
    rows = []
    for _ in range(COUNT):
        assert execution.step()
        rows.append(
            [
                observer.last_real_values(index[n.partition(".")[0]], [references[n]])[0]
                for n in names
            ]
        )
    return np.array(rows)


def compare(system, path, names):
    made = write_portable_ssp(system, path, step_ns=STEP_NS)
    ours = simulate(made.inside, algorithm="jacobi", step="1 ms", stop=f"{COUNT} ms", delay="mean")
    expected = np.column_stack([ours.values[1:, ours.names.index(name)] for name in names])
    assert np.ptp(expected, axis=0).min() > 0
    return in_libcosim(path, names), expected


def test_lines_that_begin_with_something(tmp_path):
    system = (
        System("lines")
        .add("a", block(Ramp))
        .add("b", block(Follower), bias=0.25)
        .add("c", block(Follower), bias=-0.125)
        .connect("a.y", "b.x", delay="10500 us", factor=2.0, offset=-7.0)
        .connect("a.y", "c.x")
    )
    path = tmp_path / "lines.ssp"
    found, expected = compare(system, path, ["a.y", "b.y", "c.y"])
    # Its steps are differences of rounded times, so that h is not the same double in all of them.
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_epos(plants, tmp_path):
    case = read_experiment(EPOS / "experiment.toml").case["capture_b60"]
    system = prepare("capture_b60", case, EPOS, {}, {})
    names = ["chaser.position", "chaser.velocity", "damper.force"]
    found, expected = compare(system, tmp_path / "capture.ssp", names)
    # Its times are not the same doubles, so the plants' steps end a rounding error elsewhere.
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12)
