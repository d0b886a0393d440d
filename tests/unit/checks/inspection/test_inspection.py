"""``fmu_info`` and ``check_fmu``, with FMUs that break their word, crash and hang."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.checks.inspection import check_fmu, fmu_info
from orchestrator.core.diagnostics import FmuError
from orchestrator.export import Solver, build_model

from .conftest import failures

SOURCE = """model Lag "first order"
  parameter Real rate(unit="Hz", min=0.1, max=10) = 2 "how fast";
  parameter Integer n = 1;
  input Real u(unit="m", start=1);
  output Real x(unit="m", start=0, fixed=true);
  output Real y(unit="m");
equation
  der(x) = rate*(u - x);
  y = x + 2*u*n;
end Lag;
"""


@pytest.fixture(scope="module")
def lags(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("root")
    (root / "Lag.mo").write_text(SOURCE, encoding="utf-8")
    output = tmp_path_factory.mktemp("build")
    return dict(build_model("Lag", root, output, solver=Solver("rk4"), fmi=("2.0", "3.0")).files)


@pytest.fixture
def spoil(lags: dict[str, Path], spoil_of: Callable[..., Path]) -> Callable[[str, str, str], Path]:
    """The same of the FMI 2.0 FMU without events."""
    return lambda file, old, new: spoil_of(lags["2.0"], file, old, new)


@pytest.mark.slow
@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_own_fmus_pass(lags: dict[str, Path], version: str) -> None:
    results = check_fmu(lags[version])
    assert failures(results) == {}
    passed = {(r.interface, r.name) for r in results if r.outcome == "passed"}
    for interface in ("Co-Simulation", "Model Exchange"):
        for name in ("life cycle", "several instances", "saved state", "directional derivative"):
            assert (interface, name) in passed
    assert ("Co-Simulation", "step size") in passed
    assert ("Model Exchange", "states and nominals") in passed


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_info(lags: dict[str, Path], version: str) -> None:
    facts = fmu_info(lags[version])
    assert facts["fmi_version"] == version
    assert (facts["model"], facts["tool"], facts["has_sources"]) == ("Lag", "Softdock", True)
    assert list(facts["interfaces"]) == ["Co-Simulation", "Model Exchange"]
    suffix = "" if version == "2.0" else "s"
    assert facts["interfaces"]["Co-Simulation"][f"providesDirectionalDerivative{suffix}"] is True
    sizes = facts["sizes"]
    assert [sizes[k] for k in ("inputs", "outputs", "parameters", "states")] == [1, 2, 2, 1]
    port = next(p for p in facts["ports"] if p["name"] == "rate")
    assert (port["unit"], port["min"], port["max"], port["start"]) == ("Hz", "0.1", "10.0", "2.0")


@pytest.mark.slow
def test_a_crash_fails_its_checks_only(spoil: Callable[[str, str, str], Path]) -> None:
    path = spoil(
        "sources/fmi2_simulation.c",
        "    (void)no_set_state_prior;\n    Instance* instance = component;",
        "    if (no_set_state_prior >= 0) abort();\n    Instance* instance = component;",
    )
    found = failures(check_fmu(path))
    assert {interface for interface, _ in found} == {"Co-Simulation"}
    is_windows = sys.platform == "win32"
    end = "the process ended with code 3" if is_windows else "the process crashed: SIGABRT"
    assert set(found.values()) == {end}


@pytest.mark.slow
def test_an_endless_call(spoil: Callable[[str, str, str], Path]) -> None:
    path = spoil(
        "sources/fmi2_values.c",
        "    return (fmi2Status)directional_derivative",
        "#ifdef _WIN32\n    extern void Sleep(unsigned long);\n    for (;;) Sleep(1000);\n"
        "#else\n    extern int pause(void);\n    for (;;) pause();\n#endif\n"
        "    return (fmi2Status)directional_derivative",
    )
    found = failures(check_fmu(path, timeout=8.0))
    assert {name for _, name in found} == {"directional derivative"}
    assert set(found.values()) == {"no answer within 8 s"}


@pytest.mark.slow
def test_wrong_derivatives_and_states(spoil: Callable[[str, str, str], Path]) -> None:
    path = spoil("sources/derivative.c", "*sensitivity++ = d[", "*sensitivity++ = 2 * d[")
    found = failures(check_fmu(path))
    assert {name for _, name in found} == {"directional derivative"}
    assert "d y / d u is 4, differences give 2" in found["Co-Simulation", "directional derivative"]


ARRAYS = """model Lags
  input Real u[2]; output Real y[2];
protected
  Real x[2](each fixed=true);
equation
  der(x) = u - x; y = 2*x;
end Lags;
"""


@pytest.mark.slow
def test_a_forgetful_state_of_arrays_is_seen(tmp_path: Path, spoil_of: Callable[..., Path]) -> None:
    (tmp_path / "Lags.mo").write_text(ARRAYS, encoding="utf-8")
    built = build_model("Lags", tmp_path, tmp_path / "built", fmi=("3.0",)).path
    results = check_fmu(built)
    assert failures(results) == {}
    # The array u is one of them.
    assert {r.remark.partition(" ")[0] for r in results if r.name == "start values"} == {"1"}
    target = spoil_of(
        built,
        "sources/saved_state.c",
        "memcpy(&instance->state, saved, sizeof(State));",
        "instance->state.values[AT_TIME] = ((const State*)saved)->values[AT_TIME];",
    )
    found = failures(check_fmu(target))
    assert ("Co-Simulation", "saved state") in found
    assert "values differ" in found["Co-Simulation", "saved state"]


@pytest.mark.slow
def test_forgetful_state(spoil: Callable[[str, str, str], Path]) -> None:
    path = spoil(
        "sources/saved_state.c",
        "    memcpy(&instance->state, saved, sizeof(State));\n    instance->fixed_known",
        "    instance->state.values[AT_TIME] = ((const State*)saved)->values[AT_TIME];\n"
        "    instance->fixed_known",
    )
    found = failures(check_fmu(path))
    assert {name for _, name in found} == {"saved state", "saved in every mode"}
    assert "values differ; expected" in found["Co-Simulation", "saved state"]


@pytest.mark.slow
def test_a_message_of_the_fmu_is_quoted(spoil: Callable[[str, str, str], Path]) -> None:
    path = spoil("modelDescription.xml", 'guid="{', 'guid="{x')
    found = failures(check_fmu(path))
    assert "does not match" in found["Co-Simulation", "life cycle"]


@pytest.mark.slow
def test_wrong_description(spoil: Callable[[str, str, str], Path]) -> None:
    path = spoil("modelDescription.xml", 'causality="output" ', 'causality="nonsense" ')
    found = failures(check_fmu(path))
    assert "nonsense" in found["description", "schema and rules"]
    path = spoil("modelDescription.xml", ' start="1.0"', "")
    assert failures(check_fmu(path)) == {}  # it does no harm
    found = failures(check_fmu(path, strict=True))
    assert "no start value" in found["description", "schema and rules"]


def test_bad_files(tmp_path: Path, wording) -> None:
    with wording.raises(FmuError):
        fmu_info(tmp_path / "none.fmu")
    (tmp_path / "text.fmu").write_text("no archive", encoding="utf-8")
    with wording.raises(FmuError):
        check_fmu(tmp_path / "text.fmu")
    with zipfile.ZipFile(tmp_path / "empty.fmu", "w"):
        pass
    with wording.raises(FmuError):
        fmu_info(tmp_path / "empty.fmu")
