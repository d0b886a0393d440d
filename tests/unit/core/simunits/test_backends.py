"""The same FMUs run by the engine and by other tools."""

import gc
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

from orchestrator.core.diagnostics import (
    CapabilityError,
    DescriptionError,
    StepError,
    UnknownNameError,
)
from orchestrator.core.master import Execution
from orchestrator.core.simunits import Block, Input, Output, block, fmu
from orchestrator.core.system import Backend, Causality, System


class Follow(Block):
    """Closes the loop: a force against what it sees, with feed-through."""

    position: float = Input()
    force: float = Output()

    def step(self, t, h):
        self.force = np.sin(3.0 * t) - 0.7 * self.position


@pytest.fixture(scope="module")
def whole():
    """What completes an FMU of the tests: FMPy loads no library that lacks a function."""
    return (str(Path(__file__).parents[3] / "fixtures" / "c_fmus" / "lacking.c"),)


@pytest.fixture(scope="module")
def probe(make_fmu, whole):
    return make_fmu(options=whole)


@pytest.fixture(scope="module")
def mixed(probe, c_fmu, whole):
    """FMI 2.0 and FMI 3.0, every type of number, arrays and texts, in a loop with a delay."""
    every = fmu(c_fmu("every3", options=whole))
    fed = {"u", "int32", "boolean", "label"}
    held = {c.name: c.start for c in every.of(Causality.INPUT) if c.name not in fed}
    return (
        System("mixed")
        .add("two", fmu(probe), gain=1.5, label="text", flag=True)
        .add("three", every, **{**held, "x": (0.25, 0.5), "float32": 0.1, "uint16": 65535})
        .add("follow", block(Follow))
        .connect("follow.force", "two.u")
        .connect("two.g", "three.u")
        .connect("two.m", "three.int32")
        .connect("two.not_flag", "three.boolean")
        .connect("two.label_out", "three.label")
        .connect("three.int32_out", "two.n", delay="10 ms")
        .connect("three.y", "follow.position", delay="15 ms")
    )


def record(system, algorithm):
    with Execution(system, step="5 ms", algorithm=algorithm, stop="1 s") as run:
        run.advance("1 s")
        return run.recording(), run.get("three.label_out")


@pytest.mark.parametrize("algorithm", ["gauss-seidel", "jacobi"])
def test_fmpy_gives_the_same_bits(mixed, algorithm):
    # Both call the same functions of the same libraries with the same doubles: no tolerance.
    native, text = record(mixed, algorithm)
    foreign, foreign_text = record(mixed.with_backend("fmpy"), algorithm)
    assert native.names == foreign.names
    assert np.array_equal(native.values, foreign.values)
    assert np.ptp(native.values[:, native.names.index("three.y")]) > 1e-3  # something moves
    assert text == foreign_text == "text"


def test_some_of_the_components(mixed):
    half = mixed.with_backend("fmpy", "three")
    assert [c.backend for c in half.components.values()] == ["native", "fmpy", "native"]
    assert mixed.components["three"].backend is Backend.NATIVE  # a system never changes
    native, _ = record(mixed, "gauss-seidel")
    foreign, _ = record(half, "gauss-seidel")
    assert np.array_equal(native.values, foreign.values)


def test_who_has_no_back_end(mixed, c_fmu, wording):
    with wording.raises(DescriptionError):
        mixed.with_backend("fmpy", "follow")
    with wording.raises(UnknownNameError):
        mixed.with_backend("fmpi")
    old = System("old").add("a", fmu(c_fmu("slave1")), u=0.0, n=0, flag=False, label="")
    with wording.raises(CapabilityError):
        Execution(old.with_backend("fmpy"), step="1 s")


def test_a_step_that_fails(probe, wording):
    system = System("s").add("p", fmu(probe), u=0.0, n=0, flag=False, error_at=0.5)
    with Execution(system.with_backend("fmpy"), step="0.5 s") as run:
        run.step()
        with wording.raises(StepError):
            run.step()


def test_states_are_not_saved(mixed, wording):
    half = mixed.with_backend("fmpy", "two")
    refused = wording.raises(CapabilityError)
    with Execution(half, step="5 ms") as run, refused:
        run.save()


def test_pyfmi_is_asked_for(mixed, wording):
    if importlib.util.find_spec("pyfmi") is not None:
        pytest.skip("PyFMI is installed here: nothing to ask for")
    with wording.raises(CapabilityError):
        Execution(mixed.with_backend("pyfmi", "two"), step="5 ms")


@pytest.mark.skipif(
    importlib.util.find_spec("pyfmi") is None,
    reason="PyFMI is not on PyPI: conda install -c conda-forge pyfmi",
)
def test_pyfmi_gives_the_same_bits(mixed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    native, _ = record(mixed, "gauss-seidel")
    foreign, _ = record(mixed.with_backend("pyfmi", "two"), "gauss-seidel")
    assert np.array_equal(native.values, foreign.values)
    assert not list(tmp_path.iterdir())  # PyFMI writes a log unless it is told where to


class PyfmiModel:
    """What PyFMI's model of an FMU does about its instance, counted: its destructor frees it."""

    counted: ClassVar[list[str]] = []

    def __init__(self, _path, *, kind, log_file_name):
        assert kind == "CS"
        log_file_name.write("loaded")

    def __getattr__(self, name):
        if name in {"terminate", "free_instance"}:
            self.counted.append(name)
        return lambda *_args, **_options: [0.0] if name == "get" else 0

    def __del__(self):
        self.counted.extend(["terminate", "free_instance"])


def test_an_instance_of_pyfmi_is_freed_once(probe, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyfmi", SimpleNamespace(load_fmu=PyfmiModel))
    monkeypatch.setattr(PyfmiModel, "counted", [])
    system = System("s").add("p", fmu(probe), u=0.0, n=0, flag=False)
    with Execution(system.with_backend("pyfmi"), step="0.1 s") as run:
        run.step()
    del run
    gc.collect()
    assert PyfmiModel.counted == ["terminate", "free_instance"]


@pytest.mark.slow
def test_a_back_end_of_an_experiment(probe, tmp_path):
    from orchestrator.core.ssp import write_ssd
    from orchestrator.study import read_experiment, run_experiment

    system = System("s").add("p", fmu(probe), u=1.0, n=0, flag=False)
    write_ssd(system, tmp_path / "s.ssd")
    text = """
        title = "both"
        [defaults]
        step = "0.1 s"
        stop = "1 s"
        [case.here]
        system = "s.ssd"
        measure.y = { kind = "final", signal = "p.y" }
        [case.there]
        system = "s.ssd"
        backend = "fmpy"
        measure.apart = { kind = "difference", signal = "p.y", to = "here" }
    """
    (tmp_path / "e.toml").write_text(text)
    outcome = run_experiment(read_experiment(tmp_path / "e.toml"), tmp_path, tmp_path / "out")
    assert outcome.problems == []
    assert outcome.cases["there"].measured["apart"].value == 0.0


def test_messages_of_other_fmus_find_a_logger_when_the_unit_is_gone(plants):
    """FMPy calls the last logger that any FMU of FMI 2.0 was given, from then on."""
    path = str(plants / "Chaser.fmu")
    code = f"""
import gc
from fmpy import extract, read_model_description
from fmpy.fmi2 import FMU2Slave
from orchestrator.core.simunits import fmu, make_unit
from dataclasses import replace

component = fmu({path!r})
unit = make_unit(replace(component, options=component.options.changed({{"backend": "fmpy"}})))
del unit
gc.collect()
about = read_model_description({path!r})
kind = about.coSimulation.modelIdentifier
other = FMU2Slave(
    guid=about.guid, unzipDirectory=extract({path!r}), modelIdentifier=kind, instanceName="b"
)
other.instantiate(loggingOn=True)
try:
    other.doStep(0.0, -1.0)  # out of order and backwards: the FMU has something to say
except Exception as error:
    print("refused:", error)
"""
    done = subprocess.run(  # noqa: S603 - our own interpreter and text
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "refused" in done.stdout
