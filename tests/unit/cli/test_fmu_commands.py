import json

import pytest

from orchestrator.export import build_model


@pytest.fixture(scope="module")
def lag(tmp_path_factory):
    root = tmp_path_factory.mktemp("root")
    (root / "Lag.mo").write_text(
        'model Lag "first order" input Real u(unit="m"); output Real x(unit="m", start=0,'
        " fixed=true); equation der(x) = u - x; end Lag;"
    )
    return build_model("Lag", root, tmp_path_factory.mktemp("build"), fmi=("3.0",)).path


def test_info(softdock, lag):
    code, out, err = softdock("fmu", "info", lag)
    assert (code, err) == (0, "")
    assert "Lag: FMI 3.0" in out
    assert "providesAdjointDerivatives" in out
    code, out, err = softdock("fmu", "info", lag, "--json")
    assert (code, err) == (0, "")
    assert [port["name"] for port in json.loads(out)["ports"]] == ["u", "x"]


@pytest.mark.slow
def test_check(softdock, lag):
    code, out, err = softdock("fmu", "check", lag)
    assert (code, err) == (0, "")
    assert "pass  Co-Simulation: saved state: 100 steps, bit by bit, serialised too" in out
    assert "skip  Model Exchange: step size: model exchange: the importer integrates" in out
    assert "FAIL" not in out


@pytest.mark.slow
def test_failed_check_ends_with_1(softdock, lag, monkeypatch):
    from orchestrator.checks.inspection import trials

    monkeypatch.setitem(trials.TRIALS, "no such check", None)
    code, out, err = softdock("fmu", "check", lag, "--json")
    assert (code, err) == (1, "")
    data = json.loads(out)
    assert data["failed"] == 2
    assert "no such check" in data["checks"][-1]["remark"]


@pytest.mark.parametrize("command", ["info", "check"])
def test_bad_input_ends_with_2(softdock, tmp_path, command):
    (tmp_path / "x.fmu").write_text("no archive")
    for name in ("x.fmu", "missing.fmu"):
        code, out, err = softdock("fmu", command, tmp_path / name)
        assert (code, out) == (2, "")
        assert name in err


def test_build_for_both_versions(softdock, tmp_path):
    (tmp_path / "Lag.mo").write_text(
        'model Lag "first order" output Real x(start=1, fixed=true); equation der(x) = -x; end Lag;'
    )
    recipe = tmp_path / "Lag.toml"
    recipe.write_text('[fmu]\nmodel = "Lag"\nroot = "."\n')
    code, out, _ = softdock("build", recipe, "--fmi", "both", "--json")
    assert code == 0
    (built,) = json.loads(out)
    assert [p.rpartition("/")[2] for p in built["files"].values()] == ["Lag.fmu", "Lag.fmi3.fmu"]
    code, out, _ = softdock("build", recipe, "--fmi", "3", "--json")
    assert json.loads(out)[0]["cached"] is True
    recipe.write_text('[fmu]\nmodel = "Lag"\nroot = "."\n[fmi]\nversions = ["2.0", "3.0"]\n')
    code, out, _ = softdock("build", recipe)
    assert out.count("unchanged") == 2
