"""What is in a portable .ssp, and what is refused."""

import errno
import zipfile
from dataclasses import replace
from pathlib import Path

import fmpy
import pytest
from fmpy.fmi2 import (
    FMU2Slave,
    calloc,
    fmi2CallbackAllocateMemoryTYPE,
    fmi2CallbackFreeMemoryTYPE,
    fmi2CallbackFunctions,
    fmi2CallbackLoggerTYPE,
    free,
)

from orchestrator import (
    Block,
    DefaultExperiment,
    Input,
    Output,
    System,
    TransportDelay,
    block,
    read_system,
)
from orchestrator.core.coupling import DelayMode
from orchestrator.core.diagnostics import CapabilityError, DescriptionError, SspError
from orchestrator.core.system import (
    Causality,
    Connector,
    Interpolation,
    Jitter,
    JitterKind,
    Variation,
    nanoseconds,
)
from orchestrator.export import DelayLine
from orchestrator.export.archive import fmu_archive
from orchestrator.export.portable import make_portable, write_portable_ssp

MS = 1_000_000


class Loop(Block):
    """Answers what comes in, and holds a bias that nothing feeds."""

    x: float = Input(unit="m", start=1.0)
    bias: float = Input(unit="m", start=0.5)
    y: float = Output(unit="m")

    def step(self, t: float, h: float) -> None:
        self.y = 0.5 * self.x + self.bias


def ring(delay="10 ms", **line):
    return (
        System("ring", experiment=DefaultExperiment(stop_ns=100 * MS, step_ns=MS))
        .add("a", block(Loop), bias=0.25)
        .add("b", block(Loop), bias=0.5)
        .connect("a.y", "b.x", delay=delay, **line)
        .connect("b.y", "a.x")
    )


def test_what_is_inside(tmp_path):
    path = tmp_path / "ring.ssp"
    made = write_portable_ssp(ring(), path, step_ns=MS)
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
    assert names == {
        "SystemStructure.ssd",
        "parameters.ssv",
        "resources/a.fmu",
        "resources/b.fmu",
        "resources/delayed_b_x.fmu",
    }
    system = read_system(path)
    assert set(system.components) == {"a", "b", "delayed_b_x"}
    assert [str(line) for line in system.connections] == [
        "a.y -> delayed_b_x.u",
        "delayed_b_x.y -> b.x",
        "b.y -> a.x",
    ]
    assert "bias" not in system.components["a"].connectors  # others would set it to zero
    assert system.experiment.step_ns == MS
    assert list(tmp_path.iterdir()) == [path]
    assert any("delayed_b_x holds its signal back for 8 ms" in text for text in made.remarks)
    assert any("begins with 0 on a.y -> b.x, b.y -> a.x" in text for text in made.remarks)


@pytest.mark.slow
@pytest.mark.usefixtures("uncached_compiler")
def test_equal_systems_give_equal_archives(tmp_path):
    for name in ("one.ssp", "two.ssp"):
        write_portable_ssp(ring(), tmp_path / name, step_ns=MS)
    assert (tmp_path / "one.ssp").read_bytes() == (tmp_path / "two.ssp").read_bytes()


@pytest.mark.slow
def test_nested_systems_are_flat_and_names_stay_apart(tmp_path):
    top = System("top", systems={"left": ring(), "left_": ring()})
    made = make_portable(top, tmp_path, step_ns=MS)
    assert set(made.system.components) == {
        "left_a",
        "left_b",
        "left__a",
        "left__b",
        "delayed_left_b_x",
        "delayed_left__b_x",
    }
    assert made.system.systems == {}


def test_a_delay_of_zero_is_none_and_said(tmp_path):
    system = ring().add("c", block(Loop), bias=0.0).connect("a.y", "c.x", delay=0.0)
    made = make_portable(system, tmp_path, step_ns=MS, delay=DelayMode.PLAIN)
    assert made.remarks[0].startswith("a.y -> c.x: a delay of zero asks our master")
    assert "a.y -> c.x" in [str(line) for line in made.system.connections]


@pytest.mark.parametrize(
    "change",
    [
        {"delay": "500 us"},
        {"delay": "3 ms", "interpolation": "cubic"},
        {
            "delay": TransportDelay(
                10 * MS, variation=Variation(jitter=Jitter(JitterKind.UNIFORM, MS))
            )
        },
        {"delay": None, "extrapolation": "linear"},
        {"delay": None, "compensation": "nepce"},
    ],
)
def test_lines_that_only_our_master_knows(change, tmp_path, wording):
    with wording.raises(CapabilityError):
        make_portable(ring(**change), tmp_path, step_ns=MS)


def test_a_table_of_values_is_no_plain_connection(tmp_path, wording):
    from orchestrator.core.system import MappingTransformation

    system = ring()
    table = MappingTransformation(((0, 1),))
    lines = (replace(system.connections[0], transformation=table), system.connections[1])
    with wording.raises(DescriptionError):
        make_portable(
            replace(system, connections=lines), tmp_path, step_ns=MS, plain_connections=True
        )


def test_a_target_that_cannot_be_written(tmp_path, wording):
    (tmp_path / "file").write_text("")
    with wording.raises(SspError):
        write_portable_ssp(ring(), tmp_path / "file" / "x.ssp", step_ns=MS)
    assert not Path(tmp_path / "x.ssp").exists()


@pytest.fixture(scope="module")
def line(tmp_path_factory):
    """A line of 2.5 ms made for steps of 1 ms, opened in FMPy."""
    signal = Connector("y", Causality.OUTPUT, unit="m")
    made = DelayLine(
        signal, 2_500_000, 0, MS, Interpolation.LINEAR, (7.0,), factor=2.0, offset=1.0, unit="m"
    )
    file = made.build("line", tmp_path_factory.mktemp("line") / "line.fmu").path
    description = fmpy.read_model_description(file)
    folder = fmpy.extract(file)

    def open_line():
        slave = FMU2Slave(
            guid=description.guid,
            unzipDirectory=folder,
            modelIdentifier="line",
            instanceName="line",
        )
        slave.instantiate(callbacks=quiet_callbacks())
        slave.setupExperiment(startTime=0.0)
        slave.references = {v.name: v.valueReference for v in description.modelVariables}
        return slave

    return open_line


def quiet_callbacks():
    """Callbacks of one instance alone: FMPy's default ones call a logger that may be gone."""
    callbacks = fmi2CallbackFunctions()
    callbacks.logger = fmi2CallbackLoggerTYPE(lambda *_: None)
    callbacks.allocateMemory = fmi2CallbackAllocateMemoryTYPE(calloc)
    callbacks.freeMemory = fmi2CallbackFreeMemoryTYPE(free)
    return callbacks


def run(slave, inputs, step=0.001):
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    found, time = [], 0.0
    for value in inputs:
        slave.setReal([slave.references["u"]], [value])
        slave.doStep(time, step)
        time += step
        found += slave.getReal([slave.references["y"]])
    slave.terminate()
    slave.freeInstance()
    return found


def test_a_line_interpolates_its_samples(line):
    found = run(line(), [0.0, 10.0, 20.0, 30.0, 40.0])
    # The first sample is 'initial'; at 3 ms it reads 0.5 ms, between 7 at 0 and 10 at 1 ms.
    assert found == [15.0, 15.0, 18.0, 31.0, 51.0]


def test_a_line_may_begin_with_its_input(line):
    slave = line()
    slave.setBoolean([slave.references["begins_with_input"]], [True])
    assert run(slave, [0.0, 10.0, 20.0, 30.0]) == [1.0, 1.0, 11.0, 31.0]


def test_a_step_longer_than_the_line_is_an_error(line):
    with pytest.raises(Exception, match="failed with status"):
        run(line(), [1.0, 1.0], step=0.003)


def test_more_samples_than_the_line_keeps(line):
    with pytest.raises(Exception, match="failed with status"):
        run(line(), [1.0] * 2000, step=1e-6)


def test_steps_add_up_without_rounding(line):
    assert nanoseconds("1 ms", "step") == MS
    found = run(line(), [float(i) for i in range(60)])
    assert found[10:] == [2.0 * (i - 1.5) + 1.0 for i in range(10, 60)]


def test_a_full_disk_is_reported_with_the_name_of_the_archive(tmp_path, monkeypatch):
    def add(archive, name, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(fmu_archive, "add_file", add)
    path = tmp_path / "ring.ssp"
    with pytest.raises(SspError) as caught:
        write_portable_ssp(ring(), path, step_ns=MS)
    assert str(caught.value) == f"cannot write '{path}': No space left on device"
    assert list(tmp_path.iterdir()) == []
