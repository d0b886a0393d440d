"""What a run is given besides its system: parameter sets, options, strictness."""

import json

import pytest

from orchestrator import System, fmu, write_ssd
from orchestrator.author import write_toml
from orchestrator.core.ssp import write_parameter_mapping, write_parameter_set, write_ssp


@pytest.fixture(autouse=True)
def _here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def rig(probe):
    return System("rig").add("probe", fmu(probe), u=2.0, n=0, flag=False)


def final(softdock, *arguments):
    """Run, and return the gain times u, which is 4 unless something is set."""
    code, out, err = softdock(
        "run", "rig.toml", "--step", "1 ms", "--stop", "2 ms", "--format", "csv", "--json",
        "--output", "results", *arguments,
    )  # fmt: skip
    assert code == 0, err
    assert json.loads(out)
    from pathlib import Path

    (file,) = Path("results").rglob("rig.csv")
    header, *rows = file.read_text().splitlines()
    column = next(i for i, name in enumerate(header.split(",")) if name.startswith("probe.g"))
    return float(rows[-1].split(",")[column])


@pytest.mark.slow
def test_a_parameter_set_is_chosen_at_a_run(softdock, rig, tmp_path):
    write_toml(rig, tmp_path / "rig.toml")
    write_parameter_set(System("v", rig.components).set("probe.gain", 5.0), tmp_path / "five.ssv")
    write_parameter_set(System("v", rig.components).set("probe.gain", 7.0), tmp_path / "seven.ssv")
    write_parameter_mapping({"probe.u": "probe.gain"}, tmp_path / "other.ssm")
    assert final(softdock) == 4.0
    assert final(softdock, "--parameters", "five.ssv") == 10.0
    assert final(softdock, "--parameters", "five.ssv", "--parameters", "seven.ssv") == 14.0
    assert final(softdock, "--parameters", "five.ssv", "--mapping", "other.ssm") == 10.0
    assert final(softdock, "--parameters", "five.ssv", "--set", "probe.gain=3") == 6.0


def test_an_experiment_names_mapping_and_prefix_and_the_command_line_wins(softdock, rig, tmp_path):
    write_toml(rig, tmp_path / "system.toml")
    inner = System("v", {"probe": rig.components["probe"]}).set("probe.gain", 5.0)
    write_parameter_set(inner, tmp_path / "five.ssv")
    write_parameter_mapping({"probe.gain": "x.probe.gain"}, tmp_path / "five.ssm")
    (tmp_path / "rig.toml").write_text(
        'title = "x"\n[case.rig]\nsystem = "system.toml"\nset = { "probe.u" = 3.0 }\n'
        'parameters = [{ file = "five.ssv", mapping = "five.ssm", prefix = "x." }]\n'
    )
    assert final(softdock) == 15.0
    write_parameter_set(System("v", rig.components), tmp_path / "all.ssv")  # u = 2
    assert final(softdock, "--parameters", "all.ssv") == 10.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--parameters", "none.ssv"), "none.ssv: cannot be read"),
        (("--parameters", "rig.toml"), "rig.toml: "),
        (("--parameters", "bad.ssv"), "Did you mean 'gain'?"),
        (("--parameters", "bad.ssv", "--mapping", "a.ssm", "--mapping", "b.ssm"), "one for each"),
        (("--mapping", "a.ssm"), "one for each of the 0 --parameters"),
        (("--option", "algebraic_loops"), "expected name=value"),
        (("--algorithm", "jacobi", "--option", "algebraic_loop=delay"), "has no option"),
        (("--algorithm", "jacobi", "--option", "algebraic_loops=1"), "one of refuse, delay"),
    ],
)  # fmt: skip
def test_bad_input_is_refused(softdock, rig, tmp_path, arguments, message):
    write_toml(rig, tmp_path / "rig.toml")
    write_parameter_set(System("v", rig.components).set("probe.gain", 5.0), tmp_path / "bad.ssv")
    text = (tmp_path / "bad.ssv").read_text()
    (tmp_path / "bad.ssv").write_text(text.replace("probe.gain", "probe.gian"))
    command = ("run", "rig.toml", "--step", "1 ms", "--stop", "2 ms", *arguments)
    code, out, err = softdock(*command)
    assert (code, out) == (2, "")
    assert message in err
    assert not (tmp_path / "results").exists()


def test_a_flaw_of_an_fmu_is_said_and_refused_if_strict(softdock, make_fmu, tmp_path):
    path = make_fmu(lambda text: text.replace('<Real unit="N"/>', '<Real unit="furlong"/>'))
    write_toml(System("rig").add("probe", fmu(path), u=2.0, n=0, flag=False), tmp_path / "rig.toml")
    command = ("run", "rig.toml", "--step", "1 ms", "--stop", "2 ms")
    code, out, _ = softdock(*command)
    assert code == 0
    assert "rig: component 'probe' (Probe.fmu): its modelDescription.xml breaks rules" in out
    code, _, err = softdock(*command, "--strict")
    assert code == 2
    assert "component 'probe'" in err
    assert "furlong" in err
    assert softdock("check", "rig.toml")[0] == 0
    assert softdock("check", "rig.toml", "--strict")[0] == 1
    code, _, err = softdock("fmu", "info", path)
    assert (code, "warning: " in err, "furlong" in err) == (0, True, True)
    assert softdock("fmu", "info", path, "--strict")[0] == 2


def test_a_misspelt_value_of_an_ssd_is_said_at_a_run(softdock, rig, tmp_path):
    write_ssd(rig.set("probe.gain", 5.0), tmp_path / "rig.ssd")
    text = (tmp_path / "rig.ssd").read_text()
    (tmp_path / "rig.ssd").write_text(
        text.replace('Parameter name="gain"', 'Parameter name="gian"')
    )
    code, out, _ = softdock("check", "rig.ssd")
    from orchestrator.core.ssp import diagnose

    (found,) = [d for d in diagnose(tmp_path / "rig.ssd")[1] if d.code == "SSP305"]
    assert (code, found.severity) == (0, "warning")
    assert "SSP305" in out
    assert "Did you mean 'gain'?" in found.message


def test_one_system_in_three_files_is_shown_to_be_one(softdock, rig, tmp_path):
    write_toml(rig, tmp_path / "full.toml")
    write_toml(rig, tmp_path / "brief.toml", connectors=False)
    write_ssd(rig, tmp_path / "rig.ssd")
    write_ssp(rig, tmp_path / "rig.ssp", parameters="values.ssv")
    assert softdock("diff", "full.toml", "brief.toml")[0] == 1
    for other in ("brief.toml", "rig.ssd", "rig.ssp"):
        code, out, err = softdock("diff", "full.toml", other, "--resolve")
        assert (code, err) == (0, ""), out
        assert "the systems are equal" in out
    write_toml(rig.set("probe.u", 3.0), tmp_path / "other.toml", connectors=False)
    code, out, _ = softdock("diff", "full.toml", "other.toml", "--resolve")
    assert (code, "value u: 2.0 → 3.0" in out) == (1, True)
    (tmp_path / "other.toml").write_text(
        (tmp_path / "other.toml").read_text().replace(".fmu", ".fnu.fmu")
    )
    code, _, err = softdock("diff", "full.toml", "other.toml", "--resolve")
    assert (code, "no such FMU" in err) == (2, True)
