"""What `softdock run` changes of a system: values of every type, and delays of connections."""

import json
from pathlib import Path

import numpy as np
import pytest

from orchestrator import Block, Input, Output, Parameter

SYSTEM = """
[system]
name = "pair"
[component.source]
source = "block:source"
values = { m = 7.5, k = 2.0 }
[component.source.connectors.road]
causality = "parameter"
type = "Integer"
enumeration = { name = "Road", items = { flat = 0, rough = 2 } }
[component.sink]
source = "block:sink"
values = { m = 7.5, k = 15.0 }
[connections]
"source.y -> sink.u" = {}
"""
EXPERIMENT = """
title = "pair"
[defaults]
step = "1 ms"
stop = "20 ms"
formats = ["csv"]
delay = "plain"
[derived]
"sink.k" = ["source.m", "source.k"]
[case.one]
system = "pair.toml"
[case.two]
system = "alone.toml"
"""
ALONE = '[system]\nname = "alone"\n[component.source]\nsource = "block:source"\n'


class Source(Block):
    gains: np.ndarray = Parameter(shape=(2,), start=(1.0, 2.0))
    road: int = Parameter(start=0)
    name: str = Parameter(start="x")
    fast: bool = Parameter(start=False)
    m: float = Parameter(start=1.0, unit="kg")
    k: float = Parameter(start=1.0, unit="N/m")
    y: float = Output(depends_on=())

    def step(self, t, h):
        self.y = self.gains[1] + 10 * self.road + 100 * len(self.name) + 1000 * self.fast


class Sink(Block):
    u: float = Input()
    m: float = Parameter(start=1.0, unit="kg")
    k: float = Parameter(start=1.0, unit="N/m")
    seen: float = Output(depends_on=())

    def step(self, t, h):
        self.seen = self.u


@pytest.fixture
def run(softdock, register, tmp_path, monkeypatch):
    """Run the case "one" with options; returns its part of the JSON, or what was refused."""
    register(source=Source, sink=Sink)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pair.toml").write_text(SYSTEM)
    (tmp_path / "alone.toml").write_text(ALONE)
    (tmp_path / "e.toml").write_text(EXPERIMENT)

    def call(*options):
        arguments = ("run", "e.toml", "--output", "out", "--json", *options)
        code, out, err = softdock(*arguments)
        return json.loads(out)["cases"] if code == 0 else err

    return call


def last():
    """Last values of the outputs of case "one", by name."""
    header, *rows = Path("out/one.csv").read_text().splitlines()
    return dict(zip(header.split(","), map(float, rows[-1].split(",")), strict=True))


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("source.gains=3,4.5", 104.5),
        ("source.gains=[3, 4.5]", 104.5),
        ("source.road=rough", 122.0),
        ("source.road=2", 122.0),
        ("source.name=a, b", 402.0),
        ("source.name=", 2.0),
        ("source.fast=true", 1102.0),
    ],
)
def test_values_of_all_types_are_read(run, setting, expected):
    assert "one" in run("--case", "one", "--set", setting)
    assert last()["source.y"] == expected


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("source.gains=3", "source.gains: expected 2 elements of Real between commas"),
        ("source.gains=3,a", "source.gains: expected a Real"),
        (
            "source.road=bumpy",
            "expected an Integer, or an item of Road: flat, rough, found",
        ),
        ("source.fast=2", "source.fast: expected a Boolean, found '2'"),
        ("source.roat=2", "Did you mean 'road'?"),
        ("sourze.road=2", "no case has a component 'sourze'. Did you mean 'source'?"),
    ],
)
def test_what_fits_no_type_is_said(run, setting, told):
    assert told in run("--set", setting)


def test_system_set_reads_the_same(softdock, run):
    assert softdock("system", "set", "pair.toml", "source.road=rough", "source.gains=3,4")[0] == 0
    run("--case", "one")
    assert last()["source.y"] == 124.0


def test_a_delay_of_a_connection_is_set(run):
    cases = run("--set-delay", "source.y->sink.u=12 ms")
    (line,) = cases["one"]["connections"]
    assert line["declared_delay_ms"] == 12.0
    assert "--set-delay 'source.y->sink.u=12 ms'" in " ".join(cases["one"]["remarks"])
    assert cases["two"]["connections"] == [], "it has no such connection"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("source.y -> sink.v=1 ms", "no case has a connection 'source.y -> sink.v'. Did you mean"),
        ("source.y -> sink.u", "--set-delay source.y -> sink.u: expected 'a.y -> b.u=12 ms'"),
        ("source.y -> sink.u=soon", "expected seconds"),
    ],
)
def test_a_delay_that_cannot_be_set_is_said(run, text, told):
    assert told in run("--set-delay", text)


def test_what_was_computed_from_a_parameter_and_stays_is_said(run):
    cases = run("--set", "source.m=8")
    told = " ".join(cases["one"]["remarks"])
    assert "source.m is changed, but values computed from it are not: sink.k = 15" in told
    assert "keep its old value, 7.5: sink.m; set these, too" in told
    assert "computed from it" not in " ".join(cases["two"]["remarks"])


@pytest.mark.slow
def test_what_is_set_as_well_is_not_said(run):
    cases = run("--set", "source.m=8", "--set", "sink.k=16", "--set", "sink.m=8")
    assert "keep" not in " ".join(cases["one"]["remarks"])
    assert "keep" not in " ".join(run()["one"]["remarks"])


def test_a_wrong_name_among_the_derived_is_said(run, tmp_path):
    text = EXPERIMENT.replace('"source.k"]', '"source.kk"]')
    (tmp_path / "e.toml").write_text(text)
    assert "derived: component 'source' has no connector 'kk'. Did you mean 'k'?" in run()


@pytest.mark.slow
def test_a_delay_is_set_in_the_file(softdock, run, tmp_path):
    command = ("system", "set-delay", "pair.toml", "source.y", "sink.u")
    code, out, _ = softdock(*command, "12 ms")
    assert (code, out) == (0, "pair.toml: written\nsource.y -> sink.u: 12 ms\n")
    assert run()["one"]["connections"][0]["declared_delay_ms"] == 12.0
    softdock(*command, "none")
    assert (tmp_path / "pair.toml").read_text() == SYSTEM


NEAR = {
    "case": (["run", "e.toml", "--case", "onee"], "no case 'onee'. Did you mean 'one'?"),
    "algorithm": (["run", "e.toml", "--algorithm", "jacoby"], "Did you mean 'jacobi'?"),
    "format": (["run", "e.toml", "--format", "parket"], "Did you mean 'parquet'?"),
    "sweep": (["sweep", "e.toml", "stifness"], "Did you mean 'stiffness'?"),
    "block": (["run", "e.toml", "--swap", "sink=block:sinc"], "Did you mean 'sink'?"),
    "parameter": (["run", "e.toml", "--set", "sink.mm=1"], "Did you mean 'm'?"),
    "case of a drawing": (["graph", "e.toml", "--case", "onee"], "Did you mean 'one'?"),
    "case of an export": (["export", "fmu", "e.toml", "--case", "onee"], "Did you mean 'one'?"),
}


@pytest.mark.parametrize("what", NEAR)
def test_a_near_name_is_asked_for(softdock, run, tmp_path, what):
    arguments, told = NEAR[what]
    sweep = '[sweep.stiffness]\ncase = "one"\nover = "sink.k"\nvalues = [1]\nmeasures = ["m"]\n'
    measure = '[case.one.measure.m]\nkind = "final"\nsignal = "sink.seen"\n'
    (tmp_path / "e.toml").write_text(EXPERIMENT + measure + sweep)
    code, _, err = softdock(*arguments)
    assert (code, told in err) == (2, True), err
