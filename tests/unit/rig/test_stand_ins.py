"""One system, and in one place of it a block, a device or a recording, by name."""

import numpy as np
import pytest
from scripted_device import Peer

from orchestrator import (
    DescriptionError,
    Execution,
    read_experiment,
    read_parquet,
    read_system,
    run_experiment,
    write_ssp,
    write_toml,
)
from orchestrator.checks.run_checks import check_declaration
from orchestrator.pictures.drawing import draw_system
from orchestrator.study.prepare.prepare import prepare

BLOCKS = """
import time

from orchestrator import Block, Input, Output, Parameter, State


class Rig(Block):
    u: float = Input(unit="m")
    y: float = Output(unit="m", depends_on=())
    k: float = Parameter(start=2.0)
    x: float = State(start=0.0)

    def step(self, t, h):
        self.x += h * (self.k * self.u - self.x)
        self.y = self.x


class Controller(Block):
    y: float = Input(unit="m")
    u: float = Output(unit="m", depends_on=("y",))

    def step(self, t, h):
        time.sleep(0.001)
        self.u = 1.0 - 0.5 * self.y
"""
SYSTEM = """
[system]
name = "loop"

[component.controller]
source = "block:blocks.py:Controller"

[component.rig]
source = "block:blocks.py:Rig"
values = { k = 3.0 }

[connections]
"controller.u -> rig.u" = {}
"rig.y -> controller.y" = {}
"""
EXPERIMENT = """
title = "Stand-ins"
[defaults]
step = "10 ms"
stop = 0.2
algorithm = "gauss-seidel"
record = ["*", "rig.u"]
[case.simulated]
system = "loop.toml"
[case.rig]
system = "loop.toml"
[case.rig.devices.rig]
device = "scripted_device:Scripted"
port = 9
stale_after = 1.0
"""
REALTIME = """
[realtime]
clock = "rig"
priority = 0
lock_memory = false
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "blocks.py").write_text(BLOCKS)
    (tmp_path / "loop.toml").write_text(SYSTEM)
    return tmp_path


def experiment(folder, text=EXPERIMENT):
    (folder / "rig.toml").write_text(text)
    return read_experiment(folder / "rig.toml")


def prepared(folder, text=EXPERIMENT, case="rig", **swaps):
    return prepare(case, experiment(folder, text).case[case], folder, swaps)


def test_a_table_of_a_case_puts_a_device_there(folder):
    rig = prepared(folder).components["rig"]
    assert str(rig.source) == "device:scripted_device:Scripted?port=9&stale_after=1.0"
    assert rig.values == {}  # k belongs to what is simulated
    assert "k" in prepared(folder, case="simulated").components["rig"].values


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("port = 9", "prot = 9"),
        ("port = 9", "port = 9\nunit = 's'"),
        ('device = "scripted_device:Scripted"', ""),
        ("scripted_device:Scripted", "scripted"),
        ("devices.rig]", "devices.rg]"),
        ("port = 9", "port = 2026-01-01"),
    ],
)
def test_a_table_that_does_not_fit_is_told_before_the_run(folder, old, new, wording):
    with wording.raises(DescriptionError) as caught:
        prepared(folder, EXPERIMENT.replace(old, new))
    assert "case 'rig'" in str(caught.value)


def test_the_command_line_puts_other_things_there(folder):
    source = "device:scripted_device:Scripted?port=10&on_stale=hold"
    assert str(prepared(folder, rig=source).components["rig"].source) == source


def test_a_table_changes_settings_of_the_device_of_a_system(folder):
    system = SYSTEM.replace("block:blocks.py:Rig", "device:scripted_device:Scripted?port=9&limit=2")
    (folder / "loop.toml").write_text(system.replace("values = { k = 3.0 }", ""))
    text = EXPERIMENT.replace('device = "scripted_device:Scripted"\nport = 9', "port = 11")
    rig = prepared(folder, text).components["rig"]
    assert str(rig.source).endswith("?port=11&limit=2&stale_after=1.0")
    assert rig.connectors["u"].limits.most == 2


def test_sources_survive_the_files_of_systems(folder):
    made = prepared(folder, rig="device:scripted_device:Scripted?port=9&frame=tool tip")
    write_toml(made, folder / "again.toml")
    write_ssp(made, folder / "again.ssp")
    for file in ("again.toml", "again.ssp"):
        again = read_system(folder / file)
        assert again.components["rig"].source == made.components["rig"].source


def test_a_recording_goes_into_an_archive(folder):
    (folder / "a run.csv").write_text("time [s],rig.y [m]\n0,1.5\n1,2.5\n")
    made = prepared(folder, rig=f"log:{folder / 'a run.csv'}?component=rig")
    write_toml(made, folder / "again.toml")
    write_ssp(made, folder / "again.ssp")
    for file in ("again.toml", "again.ssp"):
        with Execution(read_system(folder / file), step=0.5, algorithm="jacobi") as run:
            run.step(1)
            assert run.get("rig.y") == 2.0


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ("", "found one without real-time pacing; give --realtime, or a table"),
        (REALTIME.replace('"rig"', '"controller"'), "its clock would be 'controller', no device"),
    ],
)
def test_a_device_with_a_clock_of_its_own_needs_a_run_in_real_time(folder, table, why, wording):
    with wording.raises(DescriptionError) as caught:
        run_experiment(experiment(folder, EXPERIMENT + table), folder, folder / "out")
    assert "'rig' (device" in str(caught.value)
    assert why in str(caught.value)
    assert not (folder / "out").exists()


@pytest.mark.slow
def test_a_run_of_a_rig_is_replayed_bit_for_bit(folder, no_pictures):
    with Peer() as peer:
        text = EXPERIMENT.replace("port = 9", f"port = {peer.port}") + REALTIME
        first = run_experiment(experiment(folder, text), folder, folder / "one", only=["rig"])
    assert not first.problems
    log = folder / "one" / "rig.parquet"
    swaps = {"rig": f"log:{log}"}
    second = run_experiment(
        experiment(folder, text), folder, folder / "two", only=["rig"], swaps=swaps
    )
    assert not second.problems
    table, two = read_parquet(log), read_parquet(folder / "two" / "rig.parquet")
    assert len(table) == 21
    for name in ("controller.u", "rig.u", "rig.y", "rig.sample_age"):
        assert np.array_equal(table[name], two[name]), name
    report = (folder / "two" / "report.html").read_text()
    assert "as recorded, bit for bit, in 20 steps" in report


@pytest.mark.parametrize(
    "source",
    [
        "device:scripted_device:Scripted?port=9",
        "block:blocks.py:Rig",
        "log:run.csv",
    ],
)
def test_check_and_drawing_know_them(folder, source):
    (folder / "run.csv").write_text("time [s],rig.y [m]\n0,1.5\n1,2.5\n")
    text = SYSTEM.replace("values = { k = 3.0 }", "").replace("block:blocks.py:Rig", source)
    if source.startswith("log"):
        ports = 'u = { causality = "input", unit = "m" }, y = { causality = "output", unit = "m" }'
        text = text.replace(f'"{source}"', f'"{source}"\nconnectors = {{ {ports} }}')
    (folder / "loop.toml").write_text(text)
    system = read_system(folder / "loop.toml")
    _, found = check_declaration(system)
    assert [str(each) for each in found if each.severity == "error"] == []
    assert source.partition(":")[2][:7].encode() in draw_system(system).svg()
