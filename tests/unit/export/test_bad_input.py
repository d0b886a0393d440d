"""Wrong models, values and tools: one message each, with the place and what is wrong."""

from __future__ import annotations

import logging
import math
import multiprocessing
import os
import signal
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.core.diagnostics import DescriptionError, FmuError, ModelicaError
from orchestrator.export import build_model
from tests.unit.export.conftest import Slave


def source(folder: Path, text: str, name: str = "M") -> Path:
    path = folder / f"{name}.mo"
    path.write_text(text, encoding="utf-8")
    return path


def refused(folder: Path, text: str, **options: object) -> str:
    with pytest.raises(ModelicaError) as caught:
        build_model(None, source(folder, text), folder, **options)  # type: ignore[arg-type]
    assert not list(folder.glob("*.fmu"))
    return str(caught.value)


UNLIKE_CONNECTORS = """model M
  connector C Real e; flow Real f; end C;
  connector D Real q; flow Real g; end D;
  C c;
  D d;
equation
  connect(c, d);
end M;"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("model M\n  Real x;\nequation\n  x = ;\nend M;", "M.mo:4:7: unexpected `;`"),
        ("model M\n  Real x;\nequation\n  x = 1;\nend N;", "M.mo:5:"),
        ("model M\n  extends M;\nend M;", "'M' stands at {folder}/M.mo:1"),
        ("model M\n  parameter Real a = b;\n  parameter Real b = a;\nend M;", "M.mo:2"),
        (
            "model M\n discrete Real x;\nequation\n when sample(0, 0) then x = 1; end when; end M;",
            "'sample' stands at {folder}/M.mo:4",
        ),
        (
            'model M\n Real x = 1;\n String s;\nequation\n s = if x > 0 then "a" else "b"; end M;',
            "equation at {folder}/M.mo:5: the exporter does not support the name 's'",
        ),
        ("function f\n  output Real y;\nalgorithm\n  y := 1;\nend f;", "holds function f (line 1)"),
        ("partial model M\n  Real x;\nend M;", "holds partial model M (line 1)"),
        ("", "no class at all"),
        ("\0\1 no Modelica {\n" * 1000, "M.mo:1:"),
        (
            "model M\n  Real y, z;\nequation\n  2*y + 2*z = 2;\n  y + z = 1;\nend M;",
            "for y, z contradict or repeat each other: equation at {folder}/M.mo:4;",
        ),
        (
            UNLIKE_CONNECTORS,
            "M.mo:7: connect(c, d): connector C and connector D do not match: D has no 'e'",
        ),
    ],
)
def test_model_is_refused(text: str, expected: str, tmp_path: Path) -> None:
    message = refused(tmp_path, text)
    assert expected.format(folder=tmp_path) in message.replace("\n", "")


def test_circular_inheritance_names_the_lines_of_both_classes(tmp_path: Path, wording) -> None:
    text = "package P\n  model A extends B; end A;\n  model B extends A; end B;\nend P;"
    with wording.raises(ModelicaError) as caught:
        build_model("P.A", source(tmp_path, text, "P"), tmp_path)
    assert f"{tmp_path}/P.mo:2" in str(caught.value)


def test_class_in_two_files_names_both(tmp_path: Path, wording) -> None:
    package = tmp_path / "P"
    package.mkdir()
    one = source(package, "package P\n  model A Real x = 1; end A;\nend P;", "package")
    other = source(package, "within P;\nmodel A Real x = 2; end A;", "A")
    with wording.raises(ModelicaError) as caught:
        build_model(None, other, tmp_path)
    assert f"{one}:2" in str(caught.value)
    assert f"{other}:2" in str(caught.value)


def test_model_without_variables_is_fmi_3_only(tmp_path: Path) -> None:
    assert "FMI 2.0 wants one" in refused(tmp_path, "model M\nend M;")
    built = build_model(None, tmp_path / "M.mo", tmp_path, fmi=["3.0"])
    assert built.path.is_file()


DECAY = "model M\n{declared}\n  Real x(start = 1, fixed = true);\nequation\n  der(x) = -x;\nend M;"


@pytest.mark.usefixtures("checked_sources")
@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        (
            "  parameter Real a; output Real y = a*x;",
            "'a' at {folder}/M.mo:2 is a parameter without a value; it is 0,",
        ),
        (
            "  parameter Real a(start = 2); output Real y = a*x;",
            "'a' at {folder}/M.mo:2 is a parameter without a value; it is 2, its start value",
        ),
        (
            "  parameter Real a(min = 0) = -1;",
            "'a' at {folder}/M.mo:2: the value -1 is outside of its limits: min 0, max inf",
        ),
        ("  parameter Real a(min = 0, max = 1) = 1;", ""),
    ],
)
def test_doubtful_values_are_warned_of(
    declared: str, expected: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        build_model(None, source(tmp_path, DECAY.format(declared=declared)), tmp_path)
    if expected:
        assert expected.format(folder=tmp_path) in caplog.text
    else:
        assert not caplog.records


def test_output_without_a_value_is_an_error_and_spares_the_others(tmp_path: Path) -> None:
    text = (
        "model M\n  parameter Real p = 1;\n  Real x(start = 1, fixed = true);\n  output Real y;\n"
        "equation\n  der(x) = -x;\n  y = log(p*x);\nend M;"
    )
    fmu = build_model(None, source(tmp_path, text), tmp_path).path
    failing, healthy = Slave(fmu, tmp_path / "a"), Slave(fmu, tmp_path / "b")
    failing.initialize(p=-1.0)
    healthy.initialize()
    for unit in (failing, healthy):
        unit.fmu.doStep(0.0, 0.5)
    with pytest.raises(Exception, match="fmi2GetReal failed with status 3"):
        failing.fmu.getReal([failing.references["y"]])
    assert "'y' is nan at t = 0.5 s; the model divides by 0" in failing.messages[-1].replace(
        "-nan", "nan"
    )
    assert healthy.fmu.getReal([healthy.references["y"]])[0] == pytest.approx(-0.5, abs=1e-7)


def test_failing_compiler_leaves_the_old_fmu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = source(tmp_path, DECAY.format(declared=""))
    kept = build_model(None, model, tmp_path).path
    content = kept.read_bytes()
    compiler = tmp_path / "cc"
    compiler.write_text('#!/bin/sh\n[ "$1" = --version ] || { echo "disk full" >&2; exit 1; }\n')
    compiler.chmod(compiler.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("CC", str(compiler))
    with pytest.raises(FmuError, match="disk full"):
        build_model(None, model, tmp_path)
    assert kept.read_bytes() == content
    assert sorted(path.name for path in tmp_path.iterdir()) == ["M.fmu", "M.mo", "cc"]


def _build_slowly(model: Path, folder: Path) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    build_model(None, model, folder)


@pytest.mark.slow
def test_interrupted_build_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = source(tmp_path, DECAY.format(declared=""))
    compiler, reached = tmp_path / "cc", tmp_path / "reached"
    compiler.write_text(f'#!/bin/sh\n[ "$1" = --version ] || {{ touch {reached}; sleep 300; }}\n')
    compiler.chmod(compiler.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("CC", str(compiler))
    output = tmp_path / "out"
    process = multiprocessing.get_context("spawn").Process(
        target=_build_slowly, args=(model, output)
    )
    process.start()
    while not reached.exists() and process.is_alive():
        process.join(0.02)
    assert process.pid
    os.kill(process.pid, signal.SIGINT)
    process.join(30)
    assert process.exitcode not in {0, None}
    assert not list(output.iterdir())


def test_motor_that_breaks_away_at_the_origin_steps_on(
    shipped_fmus: dict[str, Path], open_fmu: Callable[..., Slave]
) -> None:
    """All states are about 1e-14 and the slope is not: the first step must not vanish as well."""
    motor = open_fmu(shipped_fmus["DcMotor"]).initialize()
    stuck = 0
    for count in range(2000):  # ten periods; each ends near angle 0
        motor.set(voltage=1.2 * math.sin(math.pi * count * 0.01))
        motor.step(0.01)
        mode = motor.fmu.getInteger([motor.references["mode"]])[0]
        if mode == 0:
            stuck += 1
            assert motor.get("w") == [0.0]
    assert 400 < stuck < 1000


@pytest.mark.parametrize("link", ["..", "self.mo", "nowhere.mo"])
def test_links_in_circles_are_named(link: str, tmp_path: Path, wording) -> None:
    package = tmp_path / "root" / "Lib"
    package.mkdir(parents=True)
    source(package, "package Lib end Lib;", "package")
    source(package, "within Lib;\nmodel M\n  Real x = time;\nend M;")
    (package / "self.mo").symlink_to(link)
    with wording.raises(ModelicaError):
        build_model("Lib.M", tmp_path / "root", tmp_path)


def test_text_that_is_not_utf_8_is_named(tmp_path: Path, wording) -> None:
    path = tmp_path / "M.mo"
    path.write_bytes('model M "Größe"\n  Real x = time;\nend M;'.encode("latin-1"))
    with wording.raises(ModelicaError):
        build_model(None, path, tmp_path)


def test_a_platform_that_does_not_exist_and_no_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wording
) -> None:
    path = source(tmp_path, "model M\n  output Real x = time;\nend M;")
    with wording.raises(DescriptionError):
        build_model(None, path, tmp_path, platforms=("vax64",))
    monkeypatch.setenv("CC", "no-such-compiler")
    with wording.raises(FmuError):
        build_model(None, path, tmp_path)


def test_a_class_of_ten_megabytes_is_refused(tmp_path: Path) -> None:
    text = f"model M\n  Real x = time; // {'x' * 10**7}\nend M;"
    assert "has 10.0 MB of text, of at most 4.2" in refused(tmp_path, text)
