"""Commands that show, edit and convert systems; blocks stand in for plants, so they are quick."""

import json
from functools import partial

import pytest

from orchestrator import Block, Input, Output, Parameter, System, block, read_system, write_ssd
from orchestrator.core.simunits import resolve
from orchestrator.core.ssp import write_ssp


class Body(Block):
    force: float = Input(unit="N")
    velocity: float = Output(unit="m/s")
    m: float = Parameter(start=1.0, unit="kg")


class Damper(Block):
    velocity: float = Input(unit="m/s")
    force: float = Output(unit="N")
    b: float = Parameter(start=1.0, unit="N.s/m")
    linear: bool = Parameter(start=True)


@pytest.fixture
def softdock(softdock, register):
    """Run a command of ``softdock system``."""
    register(body=Body, damper=Damper)
    return partial(softdock, "system")


@pytest.fixture(params=["rig.ssd", "rig.toml", "rig.ssp"])
def file(request, softdock, tmp_path):
    """An empty system, in each kind of file."""
    path = tmp_path / request.param
    if path.suffix == ".ssp":
        write_ssp(System("rig"), path)
    else:
        write_ssd(System("rig"), tmp_path / "rig.ssd")
        if path.suffix == ".toml":
            assert softdock("convert", tmp_path / "rig.ssd", path)[0] == 0
    return path


@pytest.mark.slow
def test_a_system_from_nothing(softdock, file):
    for command in (
        ("add", file, "body", "block:body", "--set", "m=750"),
        ("add", file, "damper", "block:damper", "--set", "linear=false"),
        ("connect", file, "body.velocity", "damper.velocity", "--delay", "16 ms"),
        ("connect", file, "damper.force", "body.force", "--factor", "-1"),
        ("set", file, "damper.b=60"),
        ("rename", file, "damper", "brake"),
    ):
        code, out, err = softdock(*command)
        assert (code, err) == (0, ""), command
        assert out.startswith(f"{file}: written")
    system = read_system(file)
    assert system.value("body.m") == 750.0
    assert system.components["brake"].values == {"b": 60.0, "linear": False}
    assert [str(line) for line in system.connections] == [
        "body.velocity -> brake.velocity",
        "brake.force -> body.force",
    ]
    assert system.connections[0].delay.nominal_ns == 16_000_000
    assert system.connections[1].transformation.factor == -1.0
    softdock("unset", file, "brake.linear")
    softdock("disconnect", file, "body")
    code, out, _ = softdock("remove", file, "brake")
    assert (code, out) == (0, f"{file}: written\n- brake\n")
    assert list(read_system(file).components) == ["body"]


@pytest.mark.slow
def test_what_makes_something_wrong_leaves_the_file(softdock, file):
    softdock("add", file, "body", "block:body")
    softdock("add", file, "damper", "block:damper")
    softdock("connect", file, "damper.force", "body.force")
    before = file.read_bytes()
    for command, text in {
        ("connect", "body.velocity", "damper.velocty"): "Did you mean 'velocity'?",
        ("connect", "body.velocity", "body.force"): "does not convert to",
        ("connect", "damper.force", "damper.velocity"): "does not convert to",
        ("connect", "damper.force", "body.force"): "is connected 2 times to 'damper.force'",
        ("connect", "body.velocity", "damper.velocity", "--delay", "soon"): "expected seconds",
        ("connect", "body.velocity", "damper.velocity", "--map", "0:1"): "two whole numbers",
        ("set", "body.m=heavy"): "body.m: expected a Real in kg, found 'heavy'",
        ("set", "body.m"): "expected component.parameter=value",
        ("set", "damper.linear=2"): "damper.linear: expected a Boolean, found '2'",
        ("add", "body", "block:body"): "already has a component 'body'",
        ("add", "other", "block:bodi"): "no block 'bodi' is registered",
        (
            "add",
            "other",
            "plant.exe",
        ): "ends in .fmu, .toml, .ssd or .ssp, or block:NAME",
        ("rename", "body", "damper"): "already has a component 'damper'",
        ("remove", "bodi"): "Did you mean 'body'?",
        ("swap", "body", "block:damper"): "cannot swap 'body' for block:damper: 'force' is output",
        ("disconnect", "body.velocity"): "has no connection of 'body.velocity'",
        ("move", "body", "arm"): "cannot be moved while it is connected in its place",
        ("expose", "out", "body.velocity", "damper.force"): "'damper.force'",
    }.items():
        name, *rest = command
        code, out, err = softdock(name, file, *rest)
        assert (code, out) == (2, ""), command
        assert text in err, (command, err)
        assert file.read_bytes() == before, command


def test_nested_systems(softdock, file, tmp_path):
    inner = System("inner").add("damper", block("damper")).expose("v", to="damper.velocity")
    write_ssd(inner, tmp_path / "inner.ssd")
    assert softdock("add", file, "arm", tmp_path / "inner.ssd", "--set", "v=0.5")[0] == 0
    assert softdock("set", file, "damper.b=5", "--in", "arm")[0] == 0
    assert softdock("add", file, "second", "block:damper", "--in", "arm")[0] == 0
    assert softdock("move", file, "arm/second", "")[0] == 0
    system = read_system(file)
    assert system.value("arm/damper.b") == 5.0
    assert system.value("arm.v") == 0.5
    assert list(system.components) == ["second"]


def test_power_and_automatic_connections(softdock, file):
    softdock("add", file, "body", "block:body")
    softdock("add", file, "damper", "block:damper")
    code, out, _ = softdock("auto-connect", file, "--dry-run")
    wanted = "+ damper.force -> body.force\n+ body.velocity -> damper.velocity\n"
    assert (code, out) == (0, wanted)
    assert read_system(file).connections == ()
    code, out, _ = softdock("connect-power", file, "body.port", "damper.port", "--delay", "1 ms")
    assert (code, out) == (0, f"{file}: written\n{wanted}")
    assert {line.delay.nominal_ns for line in read_system(file).connections} == {1_000_000}
    assert softdock("auto-connect", file, "--dry-run")[1] == "nothing is open\n"
    softdock("disconnect", file, "body")
    delays = "--delay", "1 ms", "--effort-delay", "2 ms", "--flow-delay", "0"
    assert softdock("connect-power", file, "body.port", "damper.port", *delays)[0] == 0
    found = {str(line): line.delay.nominal_ns for line in read_system(file).connections}
    assert found == {"damper.force -> body.force": 2_000_000, "body.velocity -> damper.velocity": 0}


def test_show(softdock, file):
    softdock("add", file, "body", "block:body", "--set", "m=2")
    assert softdock("show", file)[1] == "rig\n  body (block:body)\n    m = 2.0\n"
    content = json.loads(softdock("show", file, "--json")[1])
    assert content["component"]["body"]["values"] == {"m": 2.0}


def test_convert(softdock, file, tmp_path):
    softdock("add", file, "body", "block:body", "--set", "m=2")
    for name in ("a.toml", "b.ssd", "c.ssp"):
        assert softdock("convert", file, tmp_path / name)[0] == 0
        assert read_system(tmp_path / name) == read_system(file)
    softdock("convert", file, tmp_path / "d.toml", "--brief")
    assert "connectors" not in (tmp_path / "d.toml").read_text()
    assert softdock("convert", file, tmp_path / "f.ssd", "--brief")[0] == 0
    brief = read_system(tmp_path / "f.ssd")
    assert set(brief.components["body"].connectors) <= {"m"}  # it has a value
    assert resolve(brief) == resolve(read_system(file))
    assert "--brief" in softdock("convert", file, tmp_path / "f.ssp", "--brief")[2]
    code, _, err = softdock("convert", file, tmp_path / "e.xml")
    assert (code, "ends in .toml, .ssd or .ssp" in err) == (2, True)


def test_a_source_that_is_not_there_is_said(softdock, tmp_path):
    path = tmp_path / "x.toml"
    path.write_text('[system]\nname = "x"\n[component.a]\nsource = "a.fmu"\nvalues = { k = 1.0 }\n')
    code, _, err = softdock("rename", path, "a", "b")
    assert code == 0
    assert "not checked: component 'a': " in err
    assert "[component.b]" in path.read_text()


@pytest.mark.parametrize("name", ["new.toml", "new.ssd", "new.ssp"])
def test_a_system_by_commands_only(softdock, tmp_path, name):
    path = tmp_path / name
    for command in (
        ("new", path, "--name", "rig", "--description", "a test"),
        ("add-system", path, "arm", "--description", "one part"),
        ("add", path, "body", "block:body", "--in", "arm"),
        ("expose", path, "push", "body.force", "--in", "arm", "--unit", "kN"),
        ("set", path, "arm.push=2.0"),
        ("experiment", path, "--stop", "2 s", "--step", "1 ms", "--algorithm", "jacobi",
         "--option", "algebraic_loops=delay", "--rate", "arm/body=5"),
    ):  # fmt: skip
        code, _, err = softdock(*command)
        assert (code, err) == (0, ""), command
    system = read_system(path)
    assert (system.name, system.description) == ("rig", "a test")
    assert system.systems["arm"].description == "one part"
    assert system.systems["arm"].connectors["push"].unit == "kN"
    assert resolve(system).flat().component("arm/body").values["force"] == 2000.0
    found = system.experiment
    assert (found.start_ns, found.stop_ns, found.step_ns) == (0, 2 * 10**9, 10**6)
    assert (found.algorithm, dict(found.rates)) == ("jacobi", {"arm/body": 5})
    assert found.algorithm_options == {"algebraic_loops": "delay"}
    assert softdock("experiment", path, "--stop", "none", "--algorithm", "newton")[0] == 0
    found = read_system(path).experiment
    assert (found.stop_ns, found.algorithm, dict(found.algorithm_options)) == (None, "newton", {})


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("new", "rig.ssd"), "rig.ssd: is there already"),
        (("new", "rig.txt"), "rig.txt: expected a name that ends in .toml, .ssd or .ssp"),
        (("new", "nowhere/rig.toml"), "there is no folder 'nowhere'"),
        (("add-system", "rig.ssd", "a.b"), "neither a dot nor a slash"),
        (("experiment", "rig.ssd"), "expected at least one option"),
        (("experiment", "rig.ssd", "--step", "fast"), "step time"),
        (("experiment", "rig.ssd", "--step", "0 s"), "step: expected > 0 s"),
        (("experiment", "rig.ssd", "--stop", "1 s", "--start", "2 s"), "after the start of 2 s"),
        (("experiment", "rig.ssd", "--algorithm", "jakobi"), "no algorithm 'jakobi'"),
        (("experiment", "rig.ssd", "--algorithm", "jacobi", "--option", "loops=1"), "no option"),
        (("experiment", "rig.ssd", "--rate", "wing=2"), "has no component 'wing'"),
        (("experiment", "rig.ssd", "--rate", "body=0.5"), "whole number of steps"),
        (("expose", "rig.ssd", "push", "body.force", "--unit", "kg"), "does not|cannot|dimension"),
        (("expose", "rig.ssd", "push", "body.force", "--unit", "qwert"), "qwert"),
    ],
)  # fmt: skip
def test_bad_new_systems_are_refused_and_leave_the_file(
    softdock, tmp_path, monkeypatch, command, message
):
    import re

    monkeypatch.chdir(tmp_path)
    write_ssd(System("rig").add("body", block("body")), tmp_path / "rig.ssd")
    before = (tmp_path / "rig.ssd").read_bytes()
    code, out, err = softdock(*command)
    assert (code, out) == (2, "")
    assert re.search(message, err), err
    assert (tmp_path / "rig.ssd").read_bytes() == before


def test_parameter_sets_by_commands(softdock, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for command in (
        ("new", "rig.ssd"),
        ("add-system", "rig.ssd", "arm"),
        ("add", "rig.ssd", "body", "block:body", "--in", "arm", "--set", "m=2"),
        ("expose", "rig.ssd", "push", "body.force", "--in", "arm", "--unit", "kN"),
        ("set", "rig.ssd", "arm.push=3"),
        ("parameters", "rig.ssd", "all.ssv"),
        ("parameters", "rig.ssd", "heavy.ssv", "arm/body.m=750"),
        ("mapping", "heavy.ssm", "arm.body.m=arm.body.m"),
        ("convert", "rig.ssd", "linked.ssp", "--parameters", "values.ssv"),
        ("link", "rig.ssd", "heavy.ssv", "--mapping", "heavy.ssm"),
    ):
        code, _, err = softdock(*command)
        assert (code, err) == (0, ""), command
    text = (tmp_path / "all.ssv").read_text()
    assert '<ssv:Parameter name="arm.body.force">' in text
    assert '<ssv:Real value="3000.0" unit="N"/>' in text
    assert "750" not in (tmp_path / "rig.ssd").read_text()
    assert read_system("rig.ssd").value("arm/body.m") == 750.0
    assert read_system("linked.ssp").value("arm/body.m") == 2.0


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("parameters", "rig.ssd", "a.txt"), "a.txt: expected a name that ends in .ssv"),
        (("parameters", "rig.ssd", "a.ssv"), "sets no values"),
        (("parameters", "rig.ssd", "a.ssv", "body.mm=1"), "Did you mean 'm'"),
        (("parameters", "rig.ssd", "a.ssv", "body.m=heavy"), "found 'heavy'"),
        (("mapping", "a.ssm", "body.m"), "expected component.parameter=name"),
        (("link", "rig.ssd", "a.ssv"), "a.ssv: cannot be read"),
        (("link", "rig.toml", "a.ssv"), "has no references to parameter sets"),
        (("convert", "rig.ssd", "b.toml", "--parameters", "b.ssv"), "links no parameter sets"),
        (("convert", "rig.ssd", "b.ssd", "--parameters", "x/b.ssv"), "expected the name of a file"),
    ],
)
def test_bad_parameter_files_are_refused(softdock, tmp_path, monkeypatch, command, message):
    monkeypatch.chdir(tmp_path)
    system = System("rig").add("body", block("body"))
    write_ssd(system, "rig.ssd")
    assert softdock("convert", "rig.ssd", "rig.toml")[0] == 0
    code, out, err = softdock(*command)
    assert (code, out) == (2, "")
    assert message in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rig.ssd", "rig.toml"]
