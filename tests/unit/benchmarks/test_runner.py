"""All benchmarks have one command line, take turns in one way, and can be started."""

import ast
import importlib
import importlib.util
import json
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "benchmarks"
#: Of files without the runner: why.
OTHERS = {
    "runner.py": "is the runner",
    "other_masters.py": "has functions for others",
    "example_bits.py": "compares results and measures nothing",
    "windows.py": "runs in a Python for Windows, which has no access to this folder",
}
BENCHMARKS = sorted(path for path in FOLDER.glob("*.py") if path.name not in OTHERS)
#: What benchmarks compare with, and may be absent.
PEERS = {"pinocchio", "mujoco", "libcosimpy", "ecospy", "casadi", "fmpy", "numba"}


@pytest.fixture
def runner(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module("runner")


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_a_benchmark_uses_the_runner_alone(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    assert {"Benchmark", "benchmark.options", "benchmark.table"} <= calls
    assert not calls & {"argparse.ArgumentParser", "Table", "Console"}
    assert any(call.endswith("benchmark.finish") for call in calls)
    assert "options.quick" in path.read_text() or "options().quick" in path.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_what_a_benchmark_imports_exists(path, runner, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    try:
        spec = importlib.util.spec_from_file_location(f"benchmark_{path.stem}", path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
    except ModuleNotFoundError as missing:
        if missing.name not in PEERS:
            raise
        pytest.skip(f"{missing.name} is not installed")
    assert callable(module.main)


def test_figures_are_printed_and_written_with_the_machine(runner, tmp_path, monkeypatch, capsys):
    file = tmp_path / "new" / "figures.json"
    monkeypatch.setattr(sys, "argv", ["benchmark", "--json", str(file), "--steps", "7", "--quick"])
    benchmark = runner.Benchmark("What it is.\n\nMore.")
    benchmark.argument("--steps", type=int, default=5)
    options = benchmark.options()
    assert (options.steps, options.quick) == (7, True)
    benchmark.table("title", ["step [ms]", "us"], [("a", 1.5), ("b [x]", "2")])
    benchmark.finish(rows=[1, 2])
    printed = capsys.readouterr().out
    assert "| step [ms] |  us |" in printed
    assert "| b [x]     |   2 |" in printed
    assert "processor" in printed.splitlines()[-1]
    written = json.loads(file.read_text())
    assert written["rows"] == [1, 2]
    assert written["machine"]["processors"] >= 1


def test_contestants_take_turns(runner):
    calls = []
    ways = {name: lambda name=name: calls.append(name) or len(calls) for name in ("a", "b")}
    assert runner.take_turns(ways, 2) == {"a": [1, 3], "b": [2, 4]}
    assert calls == ["a", "b", "a", "b"]
    assert runner.ratio([2.0, 9.0, 8.0], [1.0, 3.0, 4.0]) == 2.0
