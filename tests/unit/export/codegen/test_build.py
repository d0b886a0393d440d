from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import compile_cache
import pytest

from orchestrator.core.diagnostics import FmuError, ModelicaError
from orchestrator.export import Solver, build_model, build_recipe
from orchestrator.export.codegen.compiler import library_command, run_compiler

SOURCE = """model Lag "first order"
  input Real u;
  output Real x(start=1, fixed=true);
equation
  der(x) = u - x;
end Lag;
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "lib"
    folder.mkdir()
    (folder / "Lag.mo").write_text(SOURCE, encoding="utf-8")
    return folder


@pytest.mark.slow
@pytest.mark.usefixtures("uncached_compiler")
def test_second_build_is_taken_from_the_archive(root: Path, tmp_path: Path) -> None:
    first = build_model("Lag", root, tmp_path / "build")
    content = first.path.read_bytes()
    second = build_model("Lag", root, tmp_path / "build")
    assert (first.cached, second.cached) == (False, True)
    forced = build_model("Lag", root, tmp_path / "build", force=True)
    assert not forced.cached
    assert forced.path.read_bytes() == content  # the same sources give the same bytes
    assert [path.name for path in (tmp_path / "build").iterdir()] == ["Lag.fmu"]


def test_tests_compile_equal_sources_once(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stands in for the compiler in tests is what a build really calls."""
    build_model("Lag", root, tmp_path / "once")
    monkeypatch.setattr(compile_cache, "_run", None)
    build_model("Lag", root, tmp_path / "again")


@pytest.mark.usefixtures("checked_sources")
def test_any_change_builds_again(root: Path, tmp_path: Path) -> None:
    build_model("Lag", root, tmp_path)
    assert not build_model("Lag", root, tmp_path, solver=Solver(max_step=1e-4)).cached
    (root / "Other.mo").write_text("model Other end Other;", encoding="utf-8")
    assert not build_model("Lag", root, tmp_path, solver=Solver(max_step=1e-4)).cached


@pytest.mark.usefixtures("checked_sources")
def test_damaged_archive_is_replaced(root: Path, tmp_path: Path) -> None:
    path = build_model("Lag", root, tmp_path).path
    path.write_bytes(path.read_bytes()[:500])
    assert not build_model("Lag", root, tmp_path).cached
    assert zipfile.ZipFile(path).testzip() is None


@pytest.mark.usefixtures("checked_sources")
def test_failed_build_keeps_the_good_fmu(root: Path, tmp_path: Path, wording) -> None:
    path = build_model("Lag", root, tmp_path / "build").path
    content = path.read_bytes()
    (root / "Lag.mo").write_text(SOURCE.replace("u - x", "u -"), encoding="utf-8")
    with wording.raises(ModelicaError):
        build_model("Lag", root, tmp_path / "build")
    assert path.read_bytes() == content


def test_missing_compiler(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wording
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    with wording.raises(FmuError):
        build_model("Lag", root, tmp_path / "build")


def test_failing_compiler(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = tmp_path / "cc"
    compiler.write_text("#!/bin/sh\necho 'fmu.c: no room' >&2\nexit 3\n", encoding="utf-8")
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    with pytest.raises(FmuError, match=r"failed \(3\):\s+fmu.c: no room"):
        build_model("Lag", root, tmp_path / "build")
    assert list((tmp_path / "build").iterdir()) == []


def test_unwritable_output(root: Path, tmp_path: Path, wording) -> None:
    (tmp_path / "file").touch()
    with wording.raises(FmuError):
        build_model("Lag", root, tmp_path / "file")


@pytest.mark.usefixtures("checked_sources")
def test_recipe_and_model_give_the_same_fmu(root: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "Lag.toml"
    recipe.write_text('[fmu]\nmodel = "Lag"\nroot = "lib"\n', encoding="utf-8")
    build_recipe(recipe, tmp_path / "build")
    assert build_model("Lag", root, tmp_path / "build").cached


def test_only_fmi_functions_are_exported(shipped_fmus: dict[str, Path], tmp_path: Path) -> None:
    with zipfile.ZipFile(shipped_fmus["Chaser"]) as archive:
        library = archive.extract("binaries/linux64/Chaser.so", tmp_path)
    listed = subprocess.run(  # noqa: S603 - a library of ours
        ["nm", "-D", "--defined-only", library],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
    )
    symbols = [line.split()[-1] for line in listed.stdout.splitlines()]
    assert len(symbols) == 44
    assert all(symbol.startswith("fmi2") for symbol in symbols)


@pytest.mark.usefixtures("checked_sources")
def test_relative_output(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    built = build_model("Lag", root, Path("out"), name="Relative")
    assert (tmp_path / "out" / "Relative.fmu").is_file()
    assert built.path == Path("out/Relative.fmu")


@pytest.mark.slow
def test_sources_compile_without_warnings(shipped_fmus: dict[str, Path], tmp_path: Path) -> None:
    for name, path in shipped_fmus.items():
        folder = tmp_path / name
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
        strict = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
        run_compiler(library_command("fmu.c", folder / "strict.so", strict), folder / "sources")
